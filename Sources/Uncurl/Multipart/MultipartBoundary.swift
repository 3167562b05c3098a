/// The boundary between parts (RFC 2046 §5.1.1). It has 64 random bits, so no content contains it by chance.
enum MultipartBoundary {
    static func random() -> String {
        "Boundary+\(hexadecimal(.random(in: .min ... .max)))\(hexadecimal(.random(in: .min ... .max)))"
    }

    private static func hexadecimal(_ number: UInt32) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    private static let longest = 70

    static func isValid(_ boundary: String) -> Bool {
        (1...longest).contains(boundary.utf8.count) && boundary.utf8.last != 0x20
            && boundary.utf8.allSatisfy { isTokenByte($0) || "(),/:=? ".utf8.contains($0) }
    }

    /// The boundary as a parameter: quoted where it is no token (RFC 2045 §5.1), as `:` or a space would end it.
    static func parameter(_ boundary: String) -> String {
        boundary.utf8.allSatisfy(isTokenByte) ? boundary : "\"\(boundary)\""
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || "'+_-.".utf8.contains(byte) }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
