import Testing
import UncurlSemantics

@Suite("Secret fields")
struct SecretFieldsTests {
    @Test("names compare without case; those that RFCs define are secret in any case")
    func names() {
        let none = SecretFields([])
        for name in ["Authorization", "cookie", "PROXY-AUTHORIZATION", "Host"] { #expect(none.contains(name)) }
        for name in ["X-API-Key", "x-auth-token", "PRIVATE-TOKEN"] {
            #expect(SecretFields.usual.contains(name) && !none.contains(name))
        }
        #expect(SecretFields(["X-Mine"]).contains("x-mine") && !SecretFields.usual.contains("X-Mine"))
    }

    @Test(
        "a field on no list is secret by a word of its name, as long as the list holds the usual names",
        arguments: [
            "DPoP", "X-Gitlab-Token", "X-JWT-Assertion", "api-token", "My-Secret", "client_secret", "X-Acme-ApiKey",
            "acme-api-signing-key", "X-Password", "X-Credentials", "Signature", "X-Hub-Signature-256", "X-Auth",
            "X-Auth-User", "OAuth2", "X-Forwarded-Authorization", "AccessToken", "X-AuthToken", "Authentication",
        ]
    )
    func words(name: String) {
        #expect(SecretFields.usual.contains(name) && SecretFields.usual.contains(name.uppercased()))
        #expect(SecretFields(SecretFields.usualNames.union(["X-Mine"])).contains(name))
        #expect(!SecretFields(["X-Mine"]).contains(name) && !SecretFields([]).contains(name))
    }

    @Test(
        "a field without such a word is not secret",
        arguments: [
            "Accept", "Content-Type", "X-Author", "Sec-WebSocket-Key", "Idempotency-Key", "X-Monkey", "X-Api-Version",
            "ETag", "Traceparent", "X-Request-ID", "Authority", "X-Plain",
        ]
    )
    func plain(name: String) { #expect(!SecretFields.usual.contains(name)) }
}
