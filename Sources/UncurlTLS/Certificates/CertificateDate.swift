internal import CUncurlOpenSSL

/// A date of a certificate, to the second, in UTC. Its text form is `2026-11-21 12:00:00Z`.
public struct CertificateDate: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The seconds since 1970 without leap seconds, as POSIX counts them.
    public let secondsSince1970: Int64

    /// Makes a date from its seconds since 1970, without leap seconds.
    public init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

    /// Reads a UTCTime or a GeneralizedTime in the form of RFC 5280 §4.1.2.5. Returns nil for any other value.
    init?(_ time: UnsafePointer<ASN1_TIME>?) {
        var parts = unsafe tm()
        guard let time = unsafe time, unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        unsafe secondsSince1970 = Int64(timegm(&parts))
    }

    static var now: CertificateDate { CertificateDate(secondsSince1970: Int64(time(nil))) }

    public static func < (left: Self, right: Self) -> Bool { left.secondsSince1970 < right.secondsSince1970 }

    public var description: String {
        var (seconds, parts) = unsafe (time_t(secondsSince1970), tm())
        // A tm has no year beyond 2^31, and a certificate's date none beyond 9999.
        guard unsafe gmtime_r(&seconds, &parts) != nil else { return "\(secondsSince1970) s after 1970" }
        let two = { (value: CInt) in value < 10 ? "0\(value)" : "\(value)" }
        let date = unsafe "\(Int(parts.tm_year) + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        return unsafe "\(date) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }
}
