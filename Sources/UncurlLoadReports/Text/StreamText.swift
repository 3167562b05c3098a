import UncurlLoad
import UncurlText

/// The part of the reports for people about a run of streams.
enum StreamText {
    /// - Parameter part: the report's member, of one run or merged from several. Nil for the null of other runs.
    static func counts(_ part: JSONTree?) -> String? {
        guard let part, let events = part["events"]?.integer else { return nil }
        let count = { (name: String) in part[name]?.integer ?? 0 }
        return "\(grouped(events)), \(fixed(part["events_per_second"]?.number ?? 0, 2))/s; "
            + "\(grouped(count("stalls"))) gaps of more than \(Units.time(count("stall_ns"))); "
            + "\(grouped(count("silent"))) streams without an event"
    }
}
