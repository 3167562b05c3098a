import TestSupport
import Testing
import UncurlTLS

@Suite("Message digests", .ownThread)
struct MessageDigestTests {
    private func hex(_ function: MessageDigest, _ text: String) -> String? {
        let bytes = Array(text.utf8)
        return function.hash(bytes.span).map { digest in
            digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }

    @Test("the functions give the values of their specifications, for nothing too")
    func vectors() {
        // RFC 1321 §A.5, FIPS 180-4's examples.
        #expect(hex(.md5, "abc") == "900150983cd24fb0d6963f7d28e17f72")
        #expect(hex(.md5, "") == "d41d8cd98f00b204e9800998ecf8427e")
        #expect(hex(.sha256, "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(hex(.sha256, "") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(hex(.sha512Cut256, "abc") == "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23")
    }
}
