/// How a form of several parts is written (RFC 7578): what separates its parts (RFC 2046 §5.1.1, with neither preamble
/// nor epilogue), and the fields that each begins with.
package struct MultipartLayout: Hashable, Sendable {
    /// What separates the parts.
    package let boundary: String

    /// `Boundary+` and sixteen random digits: 64 random bits, so that no content contains it by chance.
    package init() {
        func digits(_ number: UInt32) -> String {
            let digits = String(number, radix: 16, uppercase: true)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }
        boundary = "Boundary+\(digits(.random(in: .min ... .max)))\(digits(.random(in: .min ... .max)))"
    }

    /// Nil for what cannot be a boundary. One has 1 to 70 letters, digits, spaces and `'()+_,-./:=?`, the last of them
    /// no space.
    package init?(boundary: String) {
        let isValid =
            (1...Self.longest).contains(boundary.utf8.count) && boundary.utf8.last != 0x20
            && boundary.utf8.allSatisfy { Self.isTokenByte($0) || "(),/:=? ".utf8.contains($0) }
        guard isValid else { return nil }
        self.boundary = boundary
    }

    private static let longest = 70

    /// The value of the field Content-Type. The boundary is quoted where it is no token (RFC 2045 §5.1), as `:` or a
    /// space would end it.
    package var contentType: String {
        let isToken = boundary.utf8.allSatisfy(Self.isTokenByte)
        return "multipart/form-data; boundary=" + (isToken ? boundary : "\"\(boundary)\"")
    }

    /// What stands before the content of a part.
    ///
    /// - Parameter fields: the part's, each with its line's end.
    package func opening(fields: String, isFirst: Bool) -> [UInt8] {
        Array("\(isFirst ? "" : "\r\n")--\(boundary)\r\n\(fields)\r\n".utf8)
    }

    /// What stands behind the last part.
    package func closing(isEmpty: Bool) -> [UInt8] { Array("\(isEmpty ? "" : "\r\n")--\(boundary)--\r\n".utf8) }

    /// The fields of a part of a form, each with its line's end.
    ///
    /// - Parameters:
    ///   - name: as ``escaped(_:)`` gives it, like the file's name.
    ///   - contentType: written as it is.
    package static func fields(name: String, fileName: String? = nil, contentType: String? = nil) -> String {
        let file = fileName.map { "; filename=\"\($0)\"" } ?? ""
        let type = contentType.map { "Content-Type: \($0)\r\n" } ?? ""
        return "Content-Disposition: form-data; name=\"\(name)\"\(file)\r\n\(type)"
    }

    /// HTML §4.10.21.8, "multipart form data": what would end the quoted string or the line is percent-encoded, and
    /// nothing else. Nil for a name with a NUL, which no server reads as it was meant.
    package static func escaped(_ name: some StringProtocol) -> String? {
        var escaped = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\0": return nil
            case "\"": escaped.append(contentsOf: "%22".unicodeScalars)
            case "\r": escaped.append(contentsOf: "%0D".unicodeScalars)
            case "\n": escaped.append(contentsOf: "%0A".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "'+_-.".utf8.contains(byte)
        }
    }
}
