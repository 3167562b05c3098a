internal import COpenSSL

/// OpenSSL begins without taking itself down at `exit`: threads that outlive the main one, such as one that still reads
/// a trust store, would go on in freed tables (seen as a crash in one of thirty short runs). The kernel takes the
/// memory back.
///
/// Only the first initialisation of a process decides that, so whatever may come first passes here: all that makes a
/// context, reads a certificate or a key, or computes a hash, and the test server's keys.
package enum OpenSSLStart {
    /// Any thread. False: the library does not start.
    package static let made: Bool = OPENSSL_init_ssl(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
