import UncurlLoad
import UncurlText

/// The part of the reports for people about a run of WebSockets.
enum WebSocketText {
    /// Returns the text of each line; empty for other runs.
    ///
    /// - Parameter part: the report's member, of one run or merged from several.
    static func counts(_ part: JSONTree?) -> [String] {
        guard let part, let opened = part["opened"]?.integer else { return [] }
        let each = part["messages_per_connection"]?.number.map { ", \(fixed($0, 1)) messages on each" } ?? ""
        let rate = fixed(part["opened_per_second"]?.number ?? 0, 2)
        let count = { (name: String) in grouped(part[name]?.integer ?? 0) }
        return [
            "\(grouped(opened)) opened in the measured part, \(rate)/s\(each)",
            "\(count("dropped")) ended by the server at rest; \(count("pushed")) messages that answered none",
        ]
    }
}
