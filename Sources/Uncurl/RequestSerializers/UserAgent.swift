internal import Foundation
internal import Glibc
internal import HTTP1

/// The value of User-Agent: `program/version (Linux; distribution; kernel; machine)`, in ASCII.
enum UserAgent {
    static let ofThisProgram = value(
        program: ProcessInfo.processInfo.processName,
        version: version(in: Bundle.main.infoDictionary ?? [:]),
        distribution: distribution(osRelease: (try? String(contentsOfFile: "/etc/os-release", encoding: .utf8)) ?? ""),
        kernel: kernel()
    )

    static func value(program: String, version: String, distribution: String, kernel: [String]) -> String {
        let name = token(program, else: "uncurl")
        let comment = (["Linux", distribution] + kernel).map(commentText).filter { !$0.isEmpty }
        return "\(name)/\(token(version, else: "unknown")) (\(comment.joined(separator: "; ")))"
    }

    /// The program's version. On Linux only a bundle with a property list has one.
    private static func version(in info: [String: Any]) -> String {
        (info["CFBundleShortVersionString"] ?? info["CFBundleVersion"]) as? String ?? ""
    }

    /// PRETTY_NAME of os-release(5), or NAME.
    static func distribution(osRelease: String) -> String {
        for key in ["PRETTY_NAME=", "NAME="] {
            guard let line = osRelease.split(whereSeparator: \.isNewline).first(where: { $0.hasPrefix(key) }) else {
                continue
            }
            return line.dropFirst(key.count).trimmingCharacters(in: CharacterSet(charactersIn: "\"' \t"))
        }
        return ""
    }

    /// The kernel's release and the machine, from uname(2).
    private static func kernel() -> [String] {
        var name = utsname()
        guard unsafe uname(&name) == 0 else { return [] }
        func text<Field>(_ field: Field) -> String {
            unsafe withUnsafeBytes(of: field) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return [text(name.release), text(name.machine)]
    }

    private static func token(_ text: String, else substitute: String) -> String {
        let token = String(decoding: ascii(text).utf8.filter(\.isTokenOctet), as: UTF8.self)
        return token.isEmpty ? substitute : token
    }

    /// The characters that may stand in a comment without escapes (RFC 9110 §5.6.5).
    private static func commentText(_ text: String) -> String {
        ascii(text).filter { !"()\\".contains($0) }
    }

    /// The text in Latin letters where a transliteration exists; other signs and controls are omitted.
    private static func ascii(_ text: String) -> String {
        let latin = text.applyingTransform(StringTransform("Any-Latin; Latin-ASCII"), reverse: false) ?? text
        return String(latin.unicodeScalars.filter { 0x20..<0x7F ~= $0.value }.map(Character.init))
    }
}
