internal import Foundation
internal import HTTP1

/// Dates of fields (RFC 9110 §5.6.7) as Foundation's.
package enum HTTPDateText {
    package static func date(_ text: String, now: Date = Date()) -> Date? {
        let octets = Array(text.utf8)
        let seconds = HTTPDate.parse(octets.span, now: Int64(now.timeIntervalSince1970))
        return seconds.map { Date(timeIntervalSince1970: TimeInterval($0)) }
    }
}
