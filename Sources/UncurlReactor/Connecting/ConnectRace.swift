/// Happy eyeballs (RFC 8305) as a machine without sockets, names or clocks: which address to try next, and when.
///
///     looked up ──▶ wait for the preferred family ──▶ try ─┬─▶ attempt delay ──▶ try the next
///                   (resolution delay, §3)                 └─▶ it failed ─────▶ try the next at once (§5)
///
/// An attempt that has begun is never given up for a later one: Node.js did that, and hosts further away than its 250
/// ms became unreachable. It ends by itself, or because another one has won.
struct ConnectRace {
    enum Step: Equatable {
        case attempt(SocketAddress)
        /// Nothing is to be done until an event, or until that instant if it comes first.
        case wait(until: Instant?)
        /// There is no address left, no attempt runs, and no further address will come.
        case lost
    }

    private let options: Connector.Options
    private let preferred: IPAddress.Family
    private var addresses: [SocketAddress]
    private var unanswered: Set<IPAddress.Family>
    private var firstAnswer: Instant?
    private var lastStart: Instant?
    private var lastFamily: SocketAddress.Family?
    /// Whether an attempt has failed since the last one began: then the next one need not wait.
    private var hurries = false
    private var postponed: Instant?
    private(set) var active = 0
    private(set) var attempts = 0

    /// Makes a race to addresses in the given order; `expecting` names the families that are still being looked up.
    init(
        _ options: Connector.Options,
        preferring family: IPAddress.Family = .v6,
        addresses: [SocketAddress] = [],
        expecting: Set<IPAddress.Family> = []
    ) {
        (self.options, preferred) = (options, family)
        self.addresses = addresses
        unanswered = expecting
    }

    /// Notes the end of a family's look-up, with or without addresses. Late addresses are sorted in among those left.
    mutating func answered(_ family: IPAddress.Family, _ found: [SocketAddress], now: Instant) {
        unanswered.remove(family)
        guard !found.isEmpty else { return }
        if firstAnswer == nil { firstAnswer = now }
        addresses = interleaved(addresses + found)
    }

    mutating func attemptFailed() {
        active -= 1
        hurries = true
    }

    /// Notes that the kernel could not begin (the backlog of a unix listener is full): the address stays next in line.
    mutating func attemptPostponed(_ address: SocketAddress, until instant: Instant) {
        active -= 1
        attempts -= 1
        postponed = instant
        addresses.insert(address, at: 0)
    }

    /// Gives up the other addresses: what failed would fail for all of them.
    mutating func giveUpRest() {
        addresses = []
        unanswered = []
    }

    mutating func next(now: Instant) -> Step {
        guard let address = addresses.first, attempts < options.maximumAttempts else {
            let mayCome = !unanswered.isEmpty && attempts < options.maximumAttempts
            return active > 0 || mayCome ? .wait(until: nil) : .lost
        }
        guard active < options.maximumConcurrent else { return .wait(until: nil) }
        if let start = earliestStart, start > now { return .wait(until: start) }
        addresses.removeFirst()
        lastStart = now
        lastFamily = address.family
        hurries = false
        postponed = nil
        active += 1
        attempts += 1
        return .attempt(address)
    }

    /// When the next attempt may begin; nil: at once.
    private var earliestStart: Instant? {
        if let postponed { return postponed }
        guard let lastStart else {
            // §3: an answer of the other family waits a short time for the preferred one.
            guard unanswered.contains(preferred), let firstAnswer else { return nil }
            return firstAnswer.advanced(by: options.resolutionDelay)
        }
        return active == 0 || hurries ? nil : lastStart.advanced(by: options.attemptDelay)
    }

    /// Returns the families in turn (§4), each in the order of the look-up (RFC 6724).
    private func interleaved(_ all: [SocketAddress]) -> [SocketAddress] {
        var six = all.filter { $0.family == .v6 }[...]
        var four = all.filter { $0.family == .v4 }[...]
        var takesSix = lastFamily.map { $0 != .v6 } ?? (preferred == .v6)
        var result: [SocketAddress] = []
        while result.count < all.count {
            if let address = takesSix ? six.popFirst() : four.popFirst() { result.append(address) }
            takesSix.toggle()
        }
        return result
    }
}
