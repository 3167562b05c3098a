import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

struct ConnectToRuleTests {
    private func destination(_ url: String, _ rules: String...) throws -> String {
        let (host, port) = try TargetURL(url).destination(by: rules.map { try LoadOptions.connectToRule($0) })
        return "\(host):\(port)"
    }

    @Test("a rule applies to its own host and port only")
    func leads() throws {
        #expect(try destination("http://Example.com/", "example.COM:80:127.0.0.1:8080") == "127.0.0.1:8080")
        #expect(try destination("http://example.com:81/", "example.com:80:127.0.0.1:8080") == "example.com:81")
        #expect(try destination("http://other.com/", "example.com:80:127.0.0.1:8080") == "other.com:80")
        #expect(try destination("http://[::1]/", "[::1]:80:[::2]:8080") == "[::2]:8080")
    }

    @Test("an empty field stands for any host or port, or for the URL's own")
    func emptyFields() throws {
        #expect(try destination("http://a:5/", "::b:6") == "b:6")
        #expect(try destination("http://a:5/", "a::b:") == "b:5")
        #expect(try destination("http://a:5/", "a:5::7") == "a:7")
        #expect(try destination("http://a:5/", ":::") == "a:5")
    }

    @Test("the first matching rule applies")
    func firstRule() throws {
        #expect(try destination("http://a/", "b::c:", "a::d:", "a::e:") == "d:80")
    }

    @Test(
        "a rule without four fields is refused",
        arguments: [
            (
                "a:80:b",
                "--connect-to \"a:80:b\" is not HOST1:PORT1:HOST2:PORT2: use one such as example.com:80:127.0.0.1:8080"
            ),
            (
                "::1:80:b:80",
                "--connect-to \"::1:80:b:80\" is not HOST1:PORT1:HOST2:PORT2: use one such as example.com:80:127.0.0.1:8080"
            ),
            ("a:0:b:80", "--connect-to \"a:0:b:80\" has a port out of range: use 1 to 65535"),
            ("a:80:b:x", "--connect-to \"a:80:b:x\" has a port out of range: use 1 to 65535"),
            ("a:80:[::g]:80", "--connect-to \"a:80:[::g]:80\" has no IPv6 address in its brackets: write [::1]"),
            (
                "a:80:b c:80",
                "--connect-to \"a:80:b c:80\" has \" \" in its host: use letters, digits, dots and hyphens only"
            ),
        ]
    )
    func refused(text: String, message: String) {
        #expect(throws: UsageError(message)) { try LoadOptions.connectToRule(text) }
    }
}
