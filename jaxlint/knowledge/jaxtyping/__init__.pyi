# Where the first argument of the subscript is an array of JAX.
Bool: ArrayType["subscript"]
Complex: ArrayType["subscript"]
Complex128: ArrayType["subscript"]
Complex64: ArrayType["subscript"]
BFloat16: ArrayType["subscript"]
Float: ArrayType["subscript"]
Float16: ArrayType["subscript"]
Float32: ArrayType["subscript"]
Float64: ArrayType["subscript"]
Inexact: ArrayType["subscript"]
Int: ArrayType["subscript"]
Int16: ArrayType["subscript"]
Int32: ArrayType["subscript"]
Int64: ArrayType["subscript"]
Int8: ArrayType["subscript"]
Integer: ArrayType["subscript"]
Num: ArrayType["subscript"]
Real: ArrayType["subscript"]
Shaped: ArrayType["subscript"]
UInt: ArrayType["subscript"]
UInt16: ArrayType["subscript"]
UInt32: ArrayType["subscript"]
UInt64: ArrayType["subscript"]
UInt8: ArrayType["subscript"]
Key: KeyType["subscript"]
PRNGKeyArray: KeyType
Array = jax.Array
ArrayLike: Unknown
PyTree: Unknown
Scalar: ArrayType
ScalarLike: Unknown
def jaxtyped(fn=..., *, typechecker=...) -> Unknown: ...
