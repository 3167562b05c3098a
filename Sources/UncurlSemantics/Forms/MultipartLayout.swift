internal import UncurlText

/// The layout of a form of several parts (RFC 7578): what separates its parts (RFC 2046 §5.1.1, with neither preamble
/// nor epilogue), and the fields at the head of each.
package struct MultipartLayout: Hashable, Sendable {
    /// The text that separates the parts.
    package let boundary: String

    /// Makes a boundary of `Boundary+` and sixteen random digits: with 64 random bits no content contains it by chance.
    package init() {
        func digits(_ number: UInt32) -> String {
            let digits = String(number, radix: 16, uppercase: true)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }
        boundary = "Boundary+\(digits(.random(in: .min ... .max)))\(digits(.random(in: .min ... .max)))"
    }

    /// Nil for text that cannot be a boundary. A boundary has 1 to 70 letters, digits, spaces and `'()+_,-./:=?`, and
    /// does not end in a space.
    package init?(boundary: String) {
        let isValid =
            (1...Self.longest).contains(boundary.utf8.count) && boundary.utf8.last != 0x20
            && boundary.utf8.allSatisfy { Self.isTokenByte($0) || "(),/:=? ".utf8.contains($0) }
        guard isValid else { return nil }
        self.boundary = boundary
    }

    private static let longest = 70

    /// The value of the field Content-Type. The boundary is quoted if it is no token (RFC 2045 §5.1), since `:` or a
    /// space would end it.
    package var contentType: String {
        let isToken = boundary.utf8.allSatisfy(Self.isTokenByte)
        return "multipart/form-data; boundary=" + (isToken ? boundary : "\"\(boundary)\"")
    }

    /// Returns what comes before the content of a part.
    ///
    /// - Parameter fields: the part's fields, each with its line end.
    package func opening(fields: String, isFirst: Bool) -> [UInt8] {
        Array("\(isFirst ? "" : "\r\n")--\(boundary)\r\n\(fields)\r\n".utf8)
    }

    /// Returns what comes after the last part.
    package func closing(isEmpty: Bool) -> [UInt8] { Array("\(isEmpty ? "" : "\r\n")--\(boundary)--\r\n".utf8) }

    /// Returns the fields of a part of a form, each with its line end.
    ///
    /// - Parameters:
    ///   - name: as ``escaped(_:)`` returns it; so is the file's name.
    ///   - contentType: written as given.
    package static func fields(name: String, fileName: String? = nil, contentType: String? = nil) -> String {
        let file = fileName.map { "; filename=\"\($0)\"" } ?? ""
        let type = contentType.map { "Content-Type: \($0)\r\n" } ?? ""
        return "Content-Disposition: form-data; name=\"\(name)\"\(file)\r\n\(type)"
    }

    /// Returns a name as HTML §4.10.21.8, "multipart form data", escapes it: characters that would end the quoted
    /// string or the line are percent-encoded, and no others. Nil for a name with a NUL, which no server reads as
    /// intended.
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
        byte.isASCIIAlphanumeric || "'+_-.".utf8.contains(byte)
    }
}
