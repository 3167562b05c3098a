internal import CUncurlOpenSSL

/// The bytes that `write` puts into a memory BIO; nil if it reports a failure.
func withMemoryBIO(_ write: (OpaquePointer) -> CInt) -> [UInt8]? {
    guard let bio = unsafe BIO_new(BIO_s_mem()) else { return nil }
    defer { unsafe BIO_free(bio) }
    guard unsafe write(bio) > 0 else { return nil }
    var data: UnsafeMutablePointer<CChar>? = nil
    let count = unsafe uncurl_bio_data(bio, &data)
    guard let data = unsafe data, count > 0 else { return [] }
    return unsafe Array(UnsafeRawBufferPointer(start: data, count: count))
}

/// The DER that an `i2d_…` function makes.
func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt) -> [UInt8]? {
    var data: UnsafeMutablePointer<UInt8>? = nil
    let count = unsafe encode(&data)
    guard count >= 0, let data = unsafe data else { return nil }
    defer { unsafe CRYPTO_free(data, nil, 0) }
    return unsafe Array(UnsafeBufferPointer(start: data, count: Int(count)))
}

/// Parses DER with a `d2i_…` function.
func decoded(
    _ bytes: [UInt8],
    _ decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, CLong) -> OpaquePointer?
) -> OpaquePointer? {
    unsafe bytes.withUnsafeBufferPointer { buffer in
        var cursor = buffer.baseAddress
        return unsafe decode(&cursor, buffer.count)
    }
}
