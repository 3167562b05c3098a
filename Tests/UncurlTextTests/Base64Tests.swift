import Testing
import UncurlText

@Suite("Base64")
struct Base64Tests {
    @Test(
        "Base64 of RFC 4648 §10, both ways",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ]
    )
    func base64(text: String, encoded: String) {
        #expect(base64Text(Array(text.utf8)) == encoded)
        #expect(base64Octets(encoded) == Array(text.utf8))
        #expect(base64Octets(encoded.filter { $0 != "=" }) == Array(text.utf8))
    }

    @Test("Base64 that is none is refused", arguments: ["Z", "Zg=", "Zg===", "Z g=", "=Zg=", "Zm9vY"])
    func noBase64(text: String) {
        #expect(base64Octets(text) == nil)
    }

    @Test("base64 is read strictly and comes back the same")
    func base64() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
            #expect(canonicalBase64Octets(base64Text(bytes)) == bytes)
        }
        #expect(base64Text(Array("any carnal pleas".utf8)) == "YW55IGNhcm5hbCBwbGVhcw==")
        for wrong in ["Y", "YW", "YW5", "YW=5", "YR==", "YW5=", "===="] {
            #expect(canonicalBase64Octets(wrong) == nil)
        }
    }
}
