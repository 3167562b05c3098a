import ArgumentParser
import UncurlLoad
import UncurlText

/// The text of those flags about a request's content and fields that curl, hey and oha have too.
struct ContentFlags: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "As in curl: content of a form, its parts joined by &; @FILE for a file's without its line ends; "
                + "repeatable. Sent as "
                + "application/x-www-form-urlencoded unless -H says otherwise.",
            valueName: "TEXT"
        )
    )
    var data: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "As in curl: JSON content, its parts one after the other; @FILE for a file's; repeatable. Sent as "
                + "application/json, "
                + "which is accepted too, unless -H says otherwise.",
            valueName: "TEXT"
        )
    )
    var json: [String] = []

    @Option(
        name: [.customShort("u", allowingJoined: true), .long],
        parsing: .unconditional,
        help: ArgumentHelp("Send these by Basic authentication (RFC 7617).", valueName: "USER:PASSWORD")
    )
    var user: String?

    @Option(
        name: [.customShort("b", allowingJoined: true), .long],
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Send these cookies, or those of a file in Netscape's format where there is no =; repeatable. With "
                + "--cookies, or "
                + "a file, each user begins with them and keeps what it is given.",
            valueName: "NAME=VALUE[; …]|FILE"
        )
    )
    var cookie: [String] = []

    /// The flags that set the content, and whether each is given.
    var contents: [(String, Bool)] { [("--data", !data.isEmpty), ("--json", !json.isEmpty)] }

    /// The arguments of `-b` that are cookies and not files.
    var cookies: [String] { cookie.filter { $0.contains("=") } }
}

extension ContentFlags {
    /// The content and the fields that belong to it; nil without content.
    func content() throws(UsageError) -> (bytes: [UInt8], fields: [String])? {
        if !data.isEmpty {
            var parts: [[UInt8]] = []
            for text in data {
                // curl removes the line ends of a file, so that its last line may have one.
                parts.append(
                    try Self.bytes(text, "--data").filter { !text.hasPrefix("@") || ![0, 10, 13].contains($0) }
                )
            }
            return (Array(parts.joined(separator: "&".utf8)), ["Content-Type: application/x-www-form-urlencoded"])
        }
        guard !json.isEmpty else { return nil }
        var bytes: [UInt8] = []
        for text in json { bytes += try Self.bytes(text, "--json") }
        return (bytes, ["Content-Type: application/json", "Accept: application/json"])
    }

    private static func bytes(_ text: String, _ flag: String) throws(UsageError) -> [UInt8] {
        guard text.hasPrefix("@") else { return Array(text.utf8) }
        return try Files.read(String(text.dropFirst()), for: flag)
    }

    /// `Authorization: Basic …`; nil without `-u`. No message contains the password.
    func authorization() throws(UsageError) -> String? {
        guard let user else { return nil }
        guard let colon = user.firstIndex(of: ":"), colon > user.startIndex else {
            throw UsageError("--user has no password: write USER:PASSWORD, or USER: for an empty one")
        }
        guard user.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }) else {
            throw UsageError("--user has a control character: RFC 7617 allows none")
        }
        return "Authorization: Basic \(Base64.encode(Array(user.utf8)))"
    }
}
