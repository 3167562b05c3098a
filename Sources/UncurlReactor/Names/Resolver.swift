internal import CUncurlLinux
internal import Synchronization
internal import UncurlText

/// Looks names up. One resolver serves any number of loops, from any thread.
///
/// `getaddrinfo` runs on a pool of its own. IPv6 and IPv4 are two look-ups that are answered separately, so that a slow
/// AAAA cannot delay A. While many look-ups wait for servers, a name has one thread for both, and names that had
/// addresses before have a few threads that no other name takes. Equal look-ups that come within a second share one
/// call; later ones ask anew, since a call from before a change of the network may hang. Numeric hosts, overrides and
/// `localhost` are answered at once, and names of the hosts file by the file alone, before all that wait for servers.
/// Other names below `onion` have no address. There is no cache: `getaddrinfo` tells no lifetime, and the machine's own
/// resolver has one.
public final class Resolver: Sendable {
    /// A look-up of one family. It may block, since it runs on the resolver's pool.
    public typealias LookupFunction =
        @Sendable (_ host: String, _ family: IPAddress.Family) throws(ResolveError) -> [IPAddress]

    /// The options of look-ups.
    public struct Options: Sendable {
        /// How many look-ups run at the same time, each on a thread that ends when there is no more work; at most a
        /// quarter of the process's descriptors, since each holds a socket. A look-up whose servers are silent holds
        /// its thread for ten seconds and more, and cannot be cancelled. 1,088 threads are enough for 1,024 such names,
        /// while all other names go on.
        public var threads = 1_088
        /// The file of names that need no server (hosts(5)); nil: only `lookup` is used.
        public var hostsFile: String? = "/etc/hosts"
        /// How many look-ups may wait; further ones are refused with ``ResolveError/tooManyLookups``.
        public var maximumWaiting = 2_048
        /// How many addresses of one answer are kept. A name with thousands (DNS over TCP carries 64 KiB) is a mistake
        /// or an attack, and no client tries more than a few.
        public var maximumAddresses = 64
        /// Names that are never looked up, with their addresses. Keys in any case, without a trailing dot.
        public var overrides: [String: [IPAddress]] = [:]
        /// Replaces `getaddrinfo`; tests use it to be slow or to fail.
        public var lookup: LookupFunction = { host, family throws(ResolveError) in
            try Resolver.systemAddresses(host, family)
        }

        /// Makes options with the properties' initial values.
        public init() {}
    }

    /// The immediate result of a question.
    public enum Resolution {
        /// The addresses are known without a look-up; there is at least one.
        case known([IPAddress])
        /// The answers come later, one for each family; the look-up can be cancelled.
        case pending(Lookup)
    }

    private struct Question: Hashable {
        let host: HostName
        let family: IPAddress.Family
    }

    private typealias Waiter = LoopBound<Lookup>

    /// A look-up under way, and who waits for it.
    private struct Call {
        let number: UInt64
        /// When it was asked for, on the loop of the first waiter.
        let asked: Instant
        /// Whether a thread has taken it up.
        var hasBegun = false
        var waiters: [Waiter]

        /// Whether another waiter may join: the result cannot be older than its question by much.
        func isFresh(at now: Instant) -> Bool {
            guard hasBegun else { return true }
            let isWanted = waiters.contains { !$0.isAbandoned }
            return isWanted && now.nanoseconds(since: asked) < Resolver.freshness
        }
    }

    private struct State {
        /// The calls for each question, in the order of their numbers.
        var calls: [Question: [Call]] = [:]
        /// The number of the last call.
        var number: UInt64 = 0
        /// The questions about a name that wait for its thread, which answers another one.
        var rows: [HostName: [(Question, UInt64)]] = [:]
        /// Names that had addresses before.
        var known: Set<HostName> = []
        var closed = false

        /// Adds a waiter to the last call, or to a new one, whose number it returns.
        mutating func add(_ waiter: Waiter, to question: Question, at now: Instant) -> UInt64? {
            var calls = calls[question] ?? []
            defer { self.calls[question] = calls }
            if let last = calls.last, calls.count == Resolver.maximumCalls || last.isFresh(at: now) {
                calls[calls.count - 1].waiters.append(waiter)
                return nil
            }
            number += 1
            calls.append(Call(number: number, asked: now, waiters: [waiter]))
            return number
        }

        /// Removes a call and returns its waiters; none if it has ended before.
        mutating func end(_ number: UInt64, of question: Question) -> [Waiter] {
            guard let index = calls[question]?.firstIndex(where: { $0.number == number }) else { return [] }
            let ended = calls[question]?.remove(at: index)
            if calls[question]?.isEmpty == true { calls[question] = nil }
            return ended?.waiters ?? []
        }
    }

    /// For how many nanoseconds a call counts as new. Most servers answer within that time.
    private static let freshness: Int64 = 1_000_000_000
    /// How many calls for one question run at the same time: a name with silent servers must not take all threads.
    private static let maximumCalls = 4

    /// From so many threads on, a name has one for both of its families.
    private static let crowd = 64
    /// How many names that had addresses are known: a few dozen kilobytes.
    private static let mostKnown = 1_024

    private let options: Options
    private let overrides: [String: [IPAddress]]
    private let pool: BlockingPool
    /// Looks up names that had addresses before, while silent servers hold all threads of the other pool.
    private let keptPool: BlockingPool
    /// Reads the hosts file, and never waits for a server.
    private let filePool: BlockingPool
    private let state = Mutex(State())
    /// The families that won the last races to hosts.
    private let winners = Mutex<[String: (family: IPAddress.Family, until: Instant)]>([:])

    /// Makes a resolver with threads of its own, which start with the first look-up.
    public init(options: Options = Options()) {
        self.options = options
        overrides = Dictionary(
            options.overrides.map { ($0.key.lowercased(), $0.value) },
            uniquingKeysWith: { first, _ in first }
        )
        let threads = min(options.threads, max(16, DescriptorLimit.current / 4))
        pool = BlockingPool(name: "uncurl-dns", threads: threads, queue: options.maximumWaiting)
        keptPool = BlockingPool(name: "uncurl-dns-kept", threads: 16, queue: options.maximumWaiting)
        filePool = BlockingPool(name: "uncurl-hosts", threads: 1, queue: options.maximumWaiting)
    }

    /// Asks for the addresses of `host`, in the families wanted. Loop thread only.
    ///
    /// - Parameters:
    ///   - host: a name, not an address.
    ///   - families: the families that are wanted.
    ///   - loop: the loop that asks.
    ///   - answer: called on `loop`, once for each family, in a later turn; never after ``Lookup/cancel()``, nor when
    ///     the result is ``Resolution/known(_:)`` or an error.
    /// - Throws: at once, for a text that is no host name, and for a known name without addresses of these families.
    public func resolve(
        _ host: String,
        families: Set<IPAddress.Family> = [.v4, .v6],
        on loop: EventLoop,
        answer: @escaping (IPAddress.Family, Result<[IPAddress], ResolveError>) -> Void
    ) throws(ResolveError) -> Resolution {
        guard !families.isEmpty else { throw .noAddress }
        if let address = IPAddress(host) { return try known([address], families) }
        let name = try HostName(host)
        if let addresses = overrides[name.bare] { return try known(addresses, families) }
        if name.isLocalhost { return try known([.v6(.loopback), .v4(.loopback)], families) }
        let lookup = Lookup(families, answer)
        let waiter = LoopBound(lookup, on: loop)
        for family in [IPAddress.Family.v4, .v6] where families.contains(family) {
            ask(Question(host: name, family: family), waiter)
        }
        return .pending(lookup)
    }

    /// Answers waiting look-ups with ``ResolveError/shutDown`` and refuses further ones. Any thread; look-ups that hang
    /// are abandoned. Further calls do no harm.
    public func shutdown() {
        let waiting = state.withLock { state in
            state.closed = true
            defer { state.calls = [:] }
            return state.calls
        }
        filePool.shutdown()
        pool.shutdown()
        keptPool.shutdown()
        for (question, calls) in waiting {
            Resolver.tell(calls.flatMap(\.waiters), question.family, .failure(.shutDown))
        }
    }

    // MARK: Private

    private func known(
        _ addresses: [IPAddress],
        _ families: Set<IPAddress.Family>
    ) throws(ResolveError) -> Resolution {
        let fitting = addresses.filter { families.contains($0.family) }
        guard !fitting.isEmpty else { throw .noAddress }
        return .known(fitting)
    }

    private func ask(_ question: Question, _ waiter: Waiter) {
        if let fault = injectedFault(.lookup) {
            return Resolver.tell([waiter], question.family, .failure(.system(fault)))
        }
        let now = waiter.loop.now
        let (isClosed, call) = state.withLock { state in
            (state.closed, state.closed ? nil : state.add(waiter, to: question, at: now))
        }
        if isClosed { return Resolver.tell([waiter], question.family, .failure(.shutDown)) }
        // Without a number the question has joined another call.
        guard let number = call else { return }
        guard let path = options.hostsFile else { return lookUp(question, number) }
        run(question, number, on: filePool) {
            let all = Resolver.addresses(of: question.host, inFile: path)
            guard !all.isEmpty else { return self.lookUp(question, number) }
            self.finish(question, number, Resolver.fitting(all, question))
        }
    }

    private func lookUp(_ question: Question, _ number: UInt64) {
        guard !question.host.isOnion else { return finish(question, number, .failure(.noSuchHost)) }
        guard pool.threadCount >= Resolver.crowd else {
            return run(question, number, on: pool) { self.answer(question, number) }
        }
        let host = question.host
        let (waits, isKnown) = state.withLock { state in
            defer { state.rows[host, default: []].append((question, number)) }
            return (state.rows[host] != nil, state.known.contains(host))
        }
        guard !waits else { return }
        do throws(BlockingPool.Refusal) {
            try (isKnown && pool.isFull ? keptPool : pool).run { while self.answerNext(of: host) {} }
        } catch {
            let row = state.withLock { $0.rows.removeValue(forKey: host) } ?? []
            for (question, number) in row { finish(question, number, .failure(Resolver.error(error))) }
        }
    }

    /// Answers the question that waits longest for the name's thread. Returns false if none waits.
    private func answerNext(of host: HostName) -> Bool {
        let next = state.withLock { state -> (Question, UInt64)? in
            guard state.rows[host]?.isEmpty == false else {
                state.rows[host] = nil
                return nil
            }
            return state.rows[host]?.removeFirst()
        }
        guard let (question, number) = next else { return false }
        answer(question, number)
        return true
    }

    private func run(
        _ question: Question,
        _ number: UInt64,
        on pool: BlockingPool,
        _ work: @escaping @Sendable () -> Void
    ) {
        do throws(BlockingPool.Refusal) {
            try pool.run(work)
        } catch {
            finish(question, number, .failure(Resolver.error(error)))
        }
    }

    private static func fitting(
        _ addresses: [IPAddress],
        _ question: Question
    ) -> Result<[IPAddress], ResolveError> {
        let fitting = addresses.filter { $0.family == question.family }
        return fitting.isEmpty ? .failure(.noAddress) : .success(fitting)
    }

    private static func error(_ refusal: BlockingPool.Refusal) -> ResolveError {
        switch refusal {
        case .queueFull: .tooManyLookups
        case .shutDown: .shutDown
        case .noThread(let error): .system(error)
        }
    }

    /// Answers a question, on a thread of the pool.
    private func answer(_ question: Question, _ number: UInt64) {
        guard begin(question, number) else { return }
        let result: Result<[IPAddress], ResolveError>
        do throws(ResolveError) {
            guard DescriptorLimit.hasPlace else { throw .system(.tooManyOpenFiles) }
            let addresses = try options.lookup(question.host.text, question.family)
            result = Resolver.fitting(addresses, question)
            if !addresses.isEmpty { note(question.host) }
        } catch {
            result = .failure(error)
        }
        finish(question, number, result)
    }

    private func note(_ host: HostName) {
        state.withLock { state in
            if state.known.count >= Resolver.mostKnown { state.known.removeAll() }
            state.known.insert(host)
        }
    }

    /// Begins a call. If all its callers have cancelled while it waited for a thread, drops it instead and returns
    /// false: so the queue for a dead name server empties.
    private func begin(_ question: Question, _ number: UInt64) -> Bool {
        state.withLock { state in
            guard let index = state.calls[question]?.firstIndex(where: { $0.number == number }) else { return false }
            state.calls[question]?[index].hasBegun = true
            guard state.calls[question]?[index].waiters.allSatisfy(\.isAbandoned) == true else { return true }
            _ = state.end(number, of: question)
            return false
        }
    }

    private func finish(_ question: Question, _ number: UInt64, _ result: Result<[IPAddress], ResolveError>) {
        let waiters = state.withLock { $0.end(number, of: question) }
        let most = options.maximumAddresses
        Resolver.tell(waiters, question.family, result.map { Array($0.prefix(most)) })
    }

    private static func tell(
        _ waiters: [Waiter],
        _ family: IPAddress.Family,
        _ result: Result<[IPAddress], ResolveError>
    ) {
        for waiter in waiters { waiter.loop.post { waiter.value.deliver(family, result) } }
    }
}

/// Which address family won the last race to a host. It is remembered for ten minutes: a host whose IPv6 is broken
/// costs the first connection a quarter of a second, but not every one. Any thread.
extension Resolver {
    private static let winnerLifetime = Duration.seconds(600)
    /// A crawler meets any number of hosts, and a client of services some dozens; a host that is forgotten only costs a
    /// delay.
    static let maximumWinners = 256

    func winner(of host: String, now: Instant) -> IPAddress.Family? {
        winners.withLock { winners in
            guard let entry = winners[host] else { return nil }
            if entry.until > now { return entry.family }
            winners[host] = nil
            return nil
        }
    }

    func remember(_ family: IPAddress.Family, for host: String, now: Instant) {
        winners.withLock { winners in
            if winners.count >= Self.maximumWinners, winners[host] == nil {
                winners = winners.filter { $0.value.until > now }
                if winners.count >= Self.maximumWinners { winners.removeAll(keepingCapacity: true) }
            }
            winners[host] = (family, now.advanced(by: Self.winnerLifetime))
        }
    }
}

/// The machine's own table of names (hosts(5)). It is read anew for each look-up, as `getaddrinfo` does: a change
/// applies at once.
///
/// Its names need no server. Since it is read separately from `getaddrinfo`, it answers however many look-ups wait for
/// silent servers.
extension Resolver {
    /// The largest file that is read: blocklists have some 300,000 lines. Larger files are left to `getaddrinfo`.
    private static let largestHostsFile: UInt64 = 16 << 20

    /// Returns a name's addresses of both families in the file's order; none if it does not hold the name, or cannot be
    /// read. Waits for the disk.
    private static func addresses(of name: HostName, inFile path: String) -> [IPAddress] {
        guard let file = try? OpenFile(path: path), file.status.size <= largestHostsFile,
            let content = try? file.read(at: 0, atMost: Int(file.status.size))
        else { return [] }
        let wanted = Array(name.bare.utf8)
        return content.split(separator: UInt8(ascii: "\n")).compactMap { address(of: wanted, in: $0) }
    }

    /// Reads a line: `address name alias … # comment`
    private static func address(of name: [UInt8], in line: ArraySlice<UInt8>) -> IPAddress? {
        let words = line.prefix { $0 != UInt8(ascii: "#") }.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        guard let first = words.first,
            words.dropFirst().contains(where: { $0.lazy.map(\.lowercasedASCII).elementsEqual(name) })
        else { return nil }
        return IPAddress(String(decoding: first, as: UTF8.self))
    }
}

/// Look-ups by `getaddrinfo`: hosts file, name servers, or whatever the machine is configured for. It blocks, for many
/// seconds if servers are dead, and cannot be cancelled: only for a thread of a ``BlockingPool``.
extension Resolver {
    static func systemAddresses(_ host: String, _ family: IPAddress.Family) throws(ResolveError) -> [IPAddress] {
        var list: UnsafeMutablePointer<addrinfo>?
        var systemError: CInt = 0
        let code = unsafe uncurl_getaddrinfo(host, family == .v4 ? AF_INET : AF_INET6, &list, &systemError)
        defer { if let list = unsafe list { unsafe freeaddrinfo(list) } }
        guard code == 0 else { throw error(code, errno: Errno(code: systemError)) }
        var addresses: [IPAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            unsafe next = entry.pointee.ai_next
            guard let form = unsafe entry.pointee.ai_addr else { continue }
            switch unsafe SocketAddress(kernelForm: form, length: entry.pointee.ai_addrlen) {
            case .v4(let address, _): addresses.append(.v4(address))
            case .v6(let address, _): addresses.append(.v6(address))
            case .unix, nil: continue
            }
        }
        guard !addresses.isEmpty else { throw .noAddress }
        return addresses
    }

    private static func error(_ code: CInt, errno system: Errno) -> ResolveError {
        switch code {
        case EAI_NONAME: .noSuchHost
        case EAI_AGAIN: .temporaryFailure
        case EAI_FAIL: .serverFailure
        case EAI_MEMORY: .system(.outOfMemory)
        case EAI_SYSTEM: .system(system)
        default: uncurl_is_no_address(code) != 0 ? .noAddress : .other(code: code)
        }
    }
}

/// A look-up under way. Loop thread only.
public final class Lookup {
    typealias Answer = (IPAddress.Family, Result<[IPAddress], ResolveError>) -> Void

    /// The families that have not answered yet.
    public private(set) var pending: Set<IPAddress.Family>
    private var answer: Answer?
    /// Whether it was cancelled, for the pool's threads.
    fileprivate let isAbandoned = Atomic(false)

    init(_ families: Set<IPAddress.Family>, _ answer: @escaping Answer) {
        pending = families
        self.answer = answer
    }

    /// Cancels the look-up: no answer comes after this. A call that is already blocked goes on, and its result is
    /// dropped.
    public func cancel() {
        answer = nil
        isAbandoned.store(true, ordering: .relaxed)
    }

    func deliver(_ family: IPAddress.Family, _ result: Result<[IPAddress], ResolveError>) {
        guard let answer else { return }
        pending.remove(family)
        if pending.isEmpty { self.answer = nil }
        answer(family, result)
    }
}

extension LoopBound<Lookup> {
    fileprivate var isAbandoned: Bool { carried.isAbandoned.load(ordering: .relaxed) }
}
