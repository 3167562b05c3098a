internal import Foundation
internal import HTTP1

/// Dates of fields (RFC 9110 §5.6.7) as Foundation's.
package enum HTTPDateText {
    package static func date(_ text: String, now: Date = Date()) -> Date? {
        seconds(text, now: now).map { Date(timeIntervalSince1970: TimeInterval($0)) }
    }

    /// In seconds since 1970.
    package static func seconds(_ text: String, now: Date = Date()) -> Int64? {
        let octets = Array(text.utf8)
        return HTTPDate.parse(octets.span, now: Int64(now.timeIntervalSince1970))
    }
}
