internal import CUncurlOpenSSL

/// The start of OpenSSL, without its cleanup at `exit`. Threads that outlive the main one, such as one that still reads
/// a trust store, would go on in freed tables (seen as a crash in one of thirty short runs). The kernel takes the
/// memory back.
///
/// Only the first initialisation of a process decides that. Each piece of code that may use OpenSSL first therefore
/// asks here: all code that makes a context, reads a certificate or a key, or computes a hash, and the test server's
/// keys.
package enum OpenSSLStart {
    /// Whether the library started. Any thread may ask.
    package static let made: Bool = OPENSSL_init_ssl(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
