tree_all = jax.tree.all
tree_flatten = jax.tree.flatten
tree_leaves = jax.tree.leaves
tree_map = jax.tree.map
tree_reduce = jax.tree.reduce
tree_structure = jax.tree.structure
tree_transpose = jax.tree.transpose
tree_unflatten = jax.tree.unflatten
tree_flatten_with_path = jax.tree.flatten_with_path
tree_leaves_with_path = jax.tree.leaves_with_path
tree_map_with_path = jax.tree.map_with_path

if JAX_VERSION >= (0, 6, 2):
    tree_broadcast = jax.tree.broadcast
if JAX_VERSION >= (0, 7, 0):
    tree_reduce_associative = jax.tree.reduce_associative

PyTreeDef: Python["type"]
DictKey: Python["type"]
FlattenedIndexKey: Python["type"]
GetAttrKey: Python["type"]
SequenceKey: Python["type"]
if JAX_VERSION >= (0, 4, 33):
    KeyPath: Python["type"]

# `functools.partial` as a pytree
def Partial(func, *args, **kw) -> Unknown: ...

def all_leaves(iterable, is_leaf: Called[Unknown] = None) -> Python["bool"]: ...
def keystr(keys, *, simple=False, separator="") -> Python["str"]: ...
def treedef_children(treedef) -> Python["list"]: ...
def treedef_is_leaf(treedef) -> Python["bool"]: ...
def treedef_tuple(treedefs) -> Python["object"]: ...

# These return the class, which is a pytree from then on
def register_dataclass(nodetype, data_fields=None, meta_fields=None, drop_fields=()) -> Same[nodetype]: ...
def register_pytree_node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func=None) -> Nothing: ...
def register_pytree_node_class(cls) -> Same[cls]: ...
def register_pytree_with_keys(nodetype, flatten_with_keys, unflatten_func, flatten_func=None) -> Nothing: ...
def register_pytree_with_keys_class(cls) -> Same[cls]: ...
def register_static(cls) -> Same[cls]: ...
