internal import HTTPEngine
public import URLLoading

/// How fast a request may be sent and its answer read. Kept by the event loop, which leaves the socket alone until the
/// next bytes are due: no thread sleeps, and others' requests are not slowed. It holds for every transaction of a task:
/// redirects, challenges, retries.
public struct Throttle: Hashable, Sendable {
    /// In bytes a second, at least one. Nil: as fast as the connection takes them.
    public var upload: Int?
    /// In bytes a second, at least one. Nil: as fast as the server sends them.
    public var download: Int?
    /// How many bytes may go at once after a rest; nil for a tenth of a second's worth.
    public var burst: Int?

    /// Rates. Each argument is described at the property of its name.
    public init(upload: Int? = nil, download: Int? = nil, burst: Int? = nil) {
        self.upload = upload
        self.download = download
        self.burst = burst
    }

    /// Uploads as AFNetworking suggests for mobile networks of the third generation: 16 KiB every 0.2 s.
    public static let suggested3G = Throttle(upload: 81_920, burst: 16 << 10)
}

extension URLRequest {
    /// How fast this request is sent and its answer read.
    public var throttle: Throttle? {
        get { rates.map { Throttle($0) } }
        set { rates = newValue.map(\.rates) }
    }
}

extension Throttle {
    fileprivate init(_ rates: TransferRates) {
        upload = rates.sending?.bytesPerSecond
        download = rates.receiving?.bytesPerSecond
        burst = (rates.sending ?? rates.receiving)?.burst
    }

    fileprivate var rates: TransferRates {
        TransferRates(
            sending: upload.map { TransferRate(bytesPerSecond: $0, burst: burst) },
            receiving: download.map { TransferRate(bytesPerSecond: $0, burst: burst) }
        )
    }
}
