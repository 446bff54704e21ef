# An ArrayLike may be a NumPy array or a number.
ArrayLike: Unknown
DTypeLike: Unknown
