internal import HTTP1
internal import Reactor

/// What the connections of one loop share, since only one of them works at a time: an idle connection owns no buffer.
final class ServerScratch {
    /// Above this the output is sent before more of it is made, so that neither a fast client's
    /// pipeline nor an endless body fills memory. One read of the loop's buffer may add as much again.
    static let highWater = 64 * 1024

    let options: ServerOptions
    let counters: ServerCounters
    private let allCounters: [ServerCounters]
    /// Of all loops.
    let uploads: ServerUploads
    /// nil: the server speaks plain HTTP.
    let secure: SecureScratch?

    /// The head a parser is filling.
    var head = RequestHead()
    /// What the connection at work has to send. Empty between two connections.
    var output: [UInt8] = []
    /// One piece of a generated body.
    var piece: [UInt8] = []
    var fast = FastRoutes()
    var now = Instant(nanoseconds: 0)
    /// Responses whose last octet lies in `output`.
    var finishedResponses = 0
    /// The server is stopping: every response says that the connection ends.
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
