public import URLLoading
internal import UncurlEngine

/// Limits the rates of sending and receiving. The event loop leaves the socket alone until the next bytes are due, so
/// no thread sleeps and other requests are not slowed. The limit applies to every transaction of a task: redirects,
/// challenges, retries.
public struct Throttle: Hashable, Sendable {
    /// In bytes per second, at least one. Nil: as fast as the connection accepts them.
    public var upload: Int?
    /// In bytes per second, at least one. Nil: as fast as the server sends them.
    public var download: Int?
    /// The most bytes that may be transferred at once after a pause; nil for a tenth of a second's worth.
    public var burst: Int?

    /// Rates. Each argument is described at the property of its name.
    public init(upload: Int? = nil, download: Int? = nil, burst: Int? = nil) {
        self.upload = upload
        self.download = download
        self.burst = burst
    }

    /// The upload rate that AFNetworking suggests for 3G networks: 16 KiB every 0.2 s.
    public static let suggested3G = Throttle(upload: 81_920, burst: 16 << 10)
}

extension URLRequest {
    /// The rates of this request and its answer.
    public var throttle: Throttle? {
        get { rates.map { Throttle($0) } }
        set { rates = newValue.map(\.rates) }
    }
}

extension Throttle {
    /// The rates for each of several connections that share these rates.
    func share(of connections: Int) -> Throttle {
        func share(_ value: Int?) -> Int? { value.map { max(1, $0 / connections) } }
        return Throttle(upload: share(upload), download: share(download), burst: share(burst))
    }

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
