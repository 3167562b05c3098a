internal import CUncurlLinux

/// Follows this machine's links, addresses and default routes, and asks the kernel for the route to an address. It
/// lives on a loop.
public final class InterfaceMonitor: ReadinessHandler {
    /// How many look-ups may wait for the kernel. It answers in microseconds, so with more waiting it does not answer
    /// at all.
    public static let maximumLookups = 4_096
    /// The longest datagram that the kernel sends (NLMSG_GOODSIZE grows to 32 KiB for readers with room).
    private static let bufferLength = 32_768
    /// How many datagrams are read in a turn: a machine whose routes change all the time must not hold the loop.
    private static let budget = 64

    private let loop: EventLoop
    private let socket: NetlinkSocket
    private var tables: RoutingTables
    private var token: Token?
    private var buffer = [UInt8](repeating: 0, count: bufferLength)
    private var lookups: [UInt32: (address: IPAddress, answer: (NetworkPath) -> Void)] = [:]
    private var changed: ((NetworkState) -> Void)?
    private var told: NetworkState?

    /// Begins to follow. Loop thread only, like everything here.
    ///
    /// - Parameters:
    ///   - loop: the loop on which `changed` is called.
    ///   - socket: a socket in the network namespace to follow.
    ///   - folder: where devices tell their kind.
    ///   - changed: called in later turns: once everything is known, and then for each change. It is not called while
    ///     tables are being read anew, so that it always gets a complete state.
    public init(
        on loop: EventLoop,
        socket: consuming NetlinkSocket,
        folder: String = LinkMedium.systemFolder,
        changed: @escaping (NetworkState) -> Void
    ) throws(Errno) {
        self.loop = loop
        self.socket = socket
        tables = RoutingTables(folder: folder)
        self.changed = changed
        token = try loop.register(self.socket.number, .read, self)
        request()
    }

    /// The state; nil until everything is known.
    public var state: NetworkState? { told }

    /// Asks by which route packets to that address go, by the kernel's rules and all its tables. The answer comes in a
    /// later turn; none comes after ``close()``.
    public func path(to address: IPAddress, answer: @escaping (NetworkPath) -> Void) {
        guard token != nil, lookups.count < Self.maximumLookups else {
            loop.post { [bound = LoopBound(answer, on: loop)] in bound.value(.none) }
            return
        }
        let number = tables.nextSequence()
        lookups[number] = (address, answer)
        ask(number, address)
    }

    /// Ends: nothing is reported after this.
    public func close() {
        guard let token else { return }
        self.token = nil
        changed = nil
        lookups = [:]
        loop.deregister(token)
    }

    // MARK: Receiving

    public func ready(_ readiness: Readiness) {
        for _ in 0..<Self.budget {
            guard token != nil else { return }
            do throws(Errno) {
                guard let count = try socket.receive(into: &buffer) else { return settle() }
                for message in NetlinkMessage.all(in: buffer[..<count], port: socket.port) { take(message) }
            } catch .noBufferSpace {
                overran()
            } catch {
                // The kernel's end of this socket fails only for want of room.
                overran()
                break
            }
        }
        settle()
    }

    private func take(_ message: NetlinkMessage) {
        guard message.sequence != 0, let lookup = lookups[message.sequence] else { return tables.take(message) }
        switch message.type {
        case NetlinkMessage.newRoute: lookup.answer(message.path)
        // There is no route, or one that refuses: unreachable, prohibit, blackhole.
        case NetlinkMessage.error: lookup.answer(.none)
        default: return
        }
        lookups[message.sequence] = nil
    }

    /// Asks again after an overrun: answers may have been lost with the changes.
    private func overran() {
        tables.overran()
        for (number, lookup) in lookups { ask(number, lookup.address) }
    }

    private func settle() {
        request()
        guard tables.isSettled, tables.state != told else { return }
        told = tables.state
        changed?(tables.state)
    }

    // MARK: Sending

    private func request() {
        guard let message = tables.nextRequest() else { return }
        // The kernel did not take the request, so no answer will come. It counts as answered, so that the next one is
        // sent.
        do throws(Errno) { try socket.send(message) } catch { tables.failed() }
    }

    private func ask(_ number: UInt32, _ address: IPAddress) {
        let (family, bits, bytes): (UInt8, UInt8, [UInt8]) =
            switch address {
            case .v4(let address): (2, 32, Self.octets(address.bits))
            case .v6(let address): (10, 128, Self.octets(address.high) + Self.octets(address.low))
            }
        var body: [UInt8] = [family, bits, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        body += NetlinkMessage.attribute(1, bytes)
        if case .v6(let address) = address, address.scope != 0 {
            var index: [UInt8] = []
            index.append(number: address.scope)
            body += NetlinkMessage.attribute(4, index)
        }
        let type = NetlinkMessage.getRoute
        do throws(Errno) {
            try socket.send(NetlinkMessage.request(type, 0, sequence: number, payload: body))
        } catch {
            guard let lookup = lookups.removeValue(forKey: number) else { return }
            loop.post { [bound = LoopBound(lookup.answer, on: loop)] in bound.value(.none) }
        }
    }

    /// Returns the octets in network order.
    private static func octets(_ number: some FixedWidthInteger & BitwiseCopyable) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: number.bigEndian)
        return bytes
    }
}

/// A socket to the kernel's routing tables. It belongs to the network namespace of the thread that opened it, wherever
/// it is used later.
public struct NetlinkSocket: ~Copyable, Sendable {
    private let fd: OwnedFD
    /// The kernel's number for the socket; answers to it carry it.
    let port: UInt32

    /// Links, addresses and routes of both families (rtnetlink(7): RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE,
    /// RTMGRP_IPV6_IFADDR, RTMGRP_IPV6_ROUTE).
    private static let groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400

    /// Opens the socket, subscribed to changes of links, addresses and routes.
    public init() throws(Errno) {
        fd = OwnedFD(taking: try callingOnce(.socket) { uncurl_netlink_open(NetlinkSocket.groups) })
        port = uncurl_netlink_port(fd.number)
    }

    /// Takes over a socket that ``release()`` gave away.
    public init(adopting number: CInt) {
        fd = OwnedFD(taking: number)
        port = uncurl_netlink_port(number)
    }

    /// Gives the descriptor away without closing it.
    public consuming func release() -> CInt { fd.release() }

    /// The descriptor, for a registration.
    var number: CInt { fd.number }

    func send(_ message: [UInt8]) throws(Errno) {
        _ = try retryingInterrupts(.send, on: number) {
            unsafe message.withUnsafeBytes { unsafe uncurl_netlink_send(number, $0.baseAddress, $0.count) }
        }
    }

    /// Reads one datagram and returns its length: 0 for a message that is not from the kernel, nil where none waits.
    /// Throws `noBufferSpace` where more came than there was room for, so that something was lost.
    func receive(into buffer: inout [UInt8]) throws(Errno) -> Int? {
        let capacity = buffer.count
        let count = try retryingInterruptsOrBlocking(.receive, on: number) {
            unsafe buffer.withUnsafeMutableBytes { unsafe uncurl_netlink_receive(number, $0.baseAddress, capacity) }
        }
        if let count, count > capacity { throw .noBufferSpace }
        return count
    }
}
