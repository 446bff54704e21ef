Array: ArrayType
ArrayDevice: ArrayType
ArrayBatched: ArrayType
ArraySharded: ArrayType
ArrayNumpy: NumPyType
PRNGKey: KeyType
Numeric: Unknown
Scalar: Unknown
ArrayTree: Unknown

def fake_jit(enable_patching=True) -> Python["context"]: ...
def variants(*args, **kwargs) -> Unknown: ...
