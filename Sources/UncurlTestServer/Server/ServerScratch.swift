internal import UncurlHTTP1
internal import UncurlReactor

/// The buffers that the connections of one loop share. Only one connection works at a time, so an idle connection has
/// no buffer.
final class ServerScratch {
    /// Above this, the output is sent before more is made, so that neither a fast pipeline nor an endless body fills
    /// the memory. One read of the loop's buffer may add as much again.
    static let highWater = 64 * 1024

    let options: ServerOptions
    let counters: ServerCounters
    private let allCounters: [ServerCounters]
    /// The uploads of all loops.
    let uploads: ServerUploads
    /// The TLS buffers; nil for plain HTTP.
    let secure: SecureScratch?

    /// The head a parser is filling.
    var head = RequestHead()
    /// The output of the working connection. Empty between two connections.
    var output: [UInt8] = []
    /// One piece of a generated body.
    var piece: [UInt8] = []
    var fast = FastRoutes()
    var now = Instant(nanoseconds: 0)
    /// The number of responses whose last octet is in `output`.
    var finishedResponses = 0
    /// Whether the server is stopping. Then every response says that the connection ends.
    var isDraining = false
    private var random = SystemRandomNumberGenerator()

    init(
        options: ServerOptions,
        secure: SecureScratch?,
        counters: ServerCounters,
        all: [ServerCounters],
        uploads: ServerUploads
    ) {
        self.uploads = uploads
        self.secure = secure
        self.options = options
        self.counters = counters
        allCounters = all
        output.reserveCapacity(2 * ServerScratch.highWater)
    }

    var scheme: String { secure == nil ? "http" : "https" }

    var requestCount: UInt64 { allCounters.reduce(0) { $0 &+ $1.value(of: .requests) } }

    func nextRandom() -> UInt64 { random.next() }
}
