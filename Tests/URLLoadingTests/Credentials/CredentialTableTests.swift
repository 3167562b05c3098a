import Testing

@testable import URLLoading

@Suite("Credential tables")
struct CredentialTableTests {
    private func space(_ method: String? = NSURLAuthenticationMethodHTTPBasic) -> ProtectionSpaceValues {
        ProtectionSpaceValues(host: "h", port: 80, side: .server("http"), realm: "r", method: method)
    }

    private func credential(
        _ user: String,
        _ password: String = "p",
        _ persistence: URLCredential.Persistence = .forSession
    ) -> Credential {
        Credential(proof: .password(user: user, password: password), persistence: persistence)
    }

    @Test("a user has one credential in a space; the default one follows it")
    func replacing() {
        var table = CredentialTable()
        #expect(table.setDefault(credential("a"), for: space()) == true)
        #expect(table.set(credential("b"), for: space(), isFirst: false) == true)
        #expect(table.credentials(for: space())?.count == 2)
        #expect(table.set(credential("a", "new"), for: space(), isFirst: false) == true)
        #expect(table.defaultCredential(for: space()) == credential("a", "new"))
        #expect(table.set(credential("a", "new"), for: space(), isFirst: false) == false)
    }

    @Test(
        "the first of a space is its default until another is set as default; with the default removed, no other takes its place"
    )
    func defaults() {
        var table = CredentialTable()
        #expect(table.defaultCredential(for: space()) == nil)
        _ = table.set(credential("a"), for: space(), isFirst: true)
        #expect(table.defaultCredential(for: space()) == credential("a"))
        _ = table.set(credential("b"), for: space(), isFirst: false)
        #expect(table.defaultCredential(for: space()) == credential("a"))
        _ = table.setDefault(credential("b"), for: space())
        #expect(table.defaultCredential(for: space()) == credential("b"))
        #expect(table.remove(credential("b"), for: space()) == true)
        #expect(table.defaultCredential(for: space()) == nil)
    }

    @Test("the default method answers for Basic and Digest, not for others, and after what was stored for them")
    func defaultMethod() {
        var table = CredentialTable()
        _ = table.set(credential("general"), for: space(nil), isFirst: true)
        #expect(table.defaultCredential(for: space()) == credential("general"))
        #expect(table.defaultCredential(for: space(NSURLAuthenticationMethodHTTPDigest)) == credential("general"))
        #expect(table.defaultCredential(for: space(NSURLAuthenticationMethodNTLM)) == nil)
        _ = table.set(credential("basic"), for: space(), isFirst: true)
        #expect(table.defaultCredential(for: space()) == credential("basic"))
    }

    @Test("a credential without persistence is not stored")
    func persistence() {
        var table = CredentialTable()
        #expect(table.set(credential("a", "p", .none), for: space(), isFirst: false) == false)
        #expect(table.setDefault(credential("a", "p", .none), for: space()) == false)
        #expect(table.isEmpty)
    }

    @Test("only an equal credential is removed, also from the defaults")
    func removing() {
        var table = CredentialTable()
        _ = table.setDefault(credential("a"), for: space())
        #expect(table.remove(credential("a", "other"), for: space()) == false)
        #expect(table.remove(credential("a"), for: space()) == true)
        #expect(table.remove(credential("a"), for: space()) == false)
        #expect(table.isEmpty)
    }
}
