// The C library, whichever it is: glibc, or musl with the static Linux SDK. The only place that names either.
#if canImport(Musl)
@_exported import Musl
#else
@_exported import Glibc
#endif
