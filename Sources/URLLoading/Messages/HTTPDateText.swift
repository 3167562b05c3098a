internal import Foundation
internal import HTTP1

/// Dates of fields (RFC 9110 §5.6.7) as strings.
package enum HTTPDateText {
    /// In seconds since 1970; nil for what is no date.
    ///
    /// - Parameter now: for dates with years of two digits.
    package static func seconds(_ text: String, now: Date = Date()) -> Int64? {
        let octets = Array(text.utf8)
        return HTTPDate.parse(octets.span, now: Int64(now.timeIntervalSince1970))
    }
}
