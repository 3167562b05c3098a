import Testing
import UncurlSemantics

@Suite("Credentials")
struct CredentialsTests {
    @Test("no description, debug description or dump of credentials shows them")
    func redacted() {
        let credentials = Credentials(user: "mufasa", password: "circle")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), "\([credentials])", dumped] {
            #expect(!text.contains("mufasa") && !text.contains("circle"), "\(text)")
        }
    }
}
