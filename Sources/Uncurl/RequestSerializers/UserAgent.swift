internal import Foundation
internal import UncurlHTTP1

/// The value of User-Agent (RFC 9110 §10.1.5): the program's name and version, and nothing of the machine.
enum UserAgent {
    static let ofThisProgram = value(
        program: ProcessInfo.processInfo.processName,
        version: version(in: Bundle.main.infoDictionary ?? [:])
    )

    /// What no token may have is left out of both. It is not transliterated: that would start ICU, a fifth of a small
    /// program's start.
    static func value(program: String, version: String) -> String {
        let (name, version) = (token(program), token(version))
        return (name.isEmpty ? "uncurl" : name) + (version.isEmpty ? "" : "/" + version)
    }

    /// The program's version. On Linux only a bundle with a property list has one.
    private static func version(in info: [String: Any]) -> String {
        (info["CFBundleShortVersionString"] ?? info["CFBundleVersion"]) as? String ?? ""
    }

    private static func token(_ text: String) -> String {
        String(decoding: text.utf8.filter(\.isTokenOctet), as: UTF8.self)
    }
}
