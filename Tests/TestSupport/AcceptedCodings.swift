/// The value of `Accept-Encoding` that requests have in this build: traits add codings.
public let acceptedCodings = {
    var names = ["gzip", "deflate"]
    #if Brotli
    names.append("br")
    #endif
    #if Zstd
    names.append("zstd")
    #endif
    return names.joined(separator: ", ")
}()
