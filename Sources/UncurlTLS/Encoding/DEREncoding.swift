internal import CUncurlOpenSSL

/// Returns the octets that an `i2d_…` function makes. They are empty if it fails.
func encodedDER(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt) -> [UInt8] {
    var data: UnsafeMutablePointer<UInt8>? = nil
    let count = unsafe encode(&data)
    guard count > 0, let data = unsafe data else { return [] }
    defer { unsafe CRYPTO_free(data, nil, 0) }
    return unsafe Array(UnsafeBufferPointer(start: data, count: Int(count)))
}
