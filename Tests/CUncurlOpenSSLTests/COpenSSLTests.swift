import CUncurlOpenSSL
import Testing

@Suite("OpenSSL")
struct COpenSSLTests {
    @Test("the library that is linked is version 3 or later, of the same major version as its headers")
    func version() {
        #expect(OPENSSL_version_major() >= 3)
        #expect(OPENSSL_version_major() == CUnsignedInt(OPENSSL_VERSION_MAJOR))
    }

    @Test("a client context can be made")
    func context() throws {
        let context = try #require(SSL_CTX_new(TLS_client_method()))
        SSL_CTX_free(context)
    }
}
