import Testing
import UncurlText

@testable import UncurlSemantics

@Suite("Basic authentication")
struct BasicAuthenticationTests {
    @Test(
        "name and password are joined by a colon, in UTF-8 and base64",
        arguments: [
            // RFC 7617 §2 and §2.1.
            ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("test", "123\u{A3}", "Basic dGVzdDoxMjPCow=="),
            ("", "", "Basic Og=="),
            ("u", "a:b", "Basic dTphOmI="),
        ]
    )
    func vectors(user: String, password: String, field: String) throws {
        #expect(try Credentials(user: user, password: password).basicAuthorization() == field)
    }

    @Test("a colon in the name and controls in either are refused")
    func refused() {
        let cases: [(String, String, AuthenticationError)] = [
            ("a:b", "p", .colonInUser), ("a\r\nX: y", "p", .controlCharacter), ("a", "p\n", .controlCharacter),
            ("a", "\0", .controlCharacter), ("a\u{7F}", "", .controlCharacter), ("a", "\t", .controlCharacter),
        ]
        for (user, password, error) in cases {
            #expect(throws: error) {
                try Credentials(user: user, password: password).basicAuthorization()
            }
        }
    }

    @Test(
        "base64 pads what is no multiple of three",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"), ("\u{3FF}~\u{7FF}", "z79+378="),
        ]
    )
    func base64(text: String, code: String) { #expect(base64Text(Array(text.utf8)) == code) }
}
