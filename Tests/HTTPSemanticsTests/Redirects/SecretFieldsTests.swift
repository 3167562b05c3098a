import HTTPSemantics
import Testing

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
}
