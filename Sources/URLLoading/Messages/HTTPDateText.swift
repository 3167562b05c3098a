internal import Foundation
internal import UncurlHTTP1

/// Dates in fields (RFC 9110 §5.6.7), read from strings.
package enum HTTPDateText {
    /// Returns the date in seconds since 1970; nil for text that is no date.
    ///
    /// - Parameter now: the time by which years of two digits are read.
    package static func seconds(_ text: String, now: Date = Date()) -> Int64? {
        let octets = Array(text.utf8)
        return HTTPDate.parse(octets.span, now: Int64(now.timeIntervalSince1970))
    }
}
