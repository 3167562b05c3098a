/// Keeps a ``NetworkState`` by the kernel's messages: it requests the tables, follows the changes, and requests again
/// if something may have been missed. It decides; its owner sends and receives.
///
///     idle ──need──▶ dumping links ─▶ addresses ─▶ routes ──▶ idle
///       ▲                                            │
///       └──────────── nothing needed ────────────────┘
///
/// One table is requested at a time: the kernel refuses a second dump on a socket with EBUSY. While a table is being
/// sent, its changes arrive in between, in the order in which they happened, so they are applied to the new table.
///
/// The kernel does not report the removal of some routes: IPv4 routes whose link is switched off, or whose address is
/// removed (fib_disable_ip, fib_sync_down_addr). So after a change of links or addresses the routes are requested
/// again.
struct RoutingTables {
    /// The tables by the types of the requests for them, in the order of the requests, with the lengths of their fixed
    /// parts.
    private static let tables: [(type: UInt16, bodyLength: Int)] = [
        (NetlinkMessage.getLink, 16), (NetlinkMessage.getAddress, 8), (NetlinkMessage.getRoute, 12),
    ]

    private(set) var state = NetworkState()
    /// Whether all tables have been received once.
    private(set) var isComplete = false
    private let folder: String
    /// The table that is being received; nil while idle.
    private var dumping: (table: UInt16, sequence: UInt32)?
    private var needs = Set(tables.map(\.type))
    private var sequence: UInt32 = 0

    /// - Parameter folder: where devices tell their kind.
    init(folder: String = LinkMedium.systemFolder) { self.folder = folder }

    /// Whether the state is the kernel's, as far as the kernel has reported it.
    var isSettled: Bool { dumping == nil && needs.isEmpty && isComplete }

    /// Returns the message to send now; nil for none.
    mutating func nextRequest() -> [UInt8]? {
        guard dumping == nil, let (table, bodyLength) = Self.tables.first(where: { needs.contains($0.type) }) else {
            return nil
        }
        switch table {
        case NetlinkMessage.getLink: state.links = [:]
        case NetlinkMessage.getAddress: state.addresses = []
        default: state.routes = []
        }
        needs.remove(table)
        let number = nextSequence()
        dumping = (table, number)
        // All bytes are zero: for no family in particular.
        let body = [UInt8](repeating: 0, count: bodyLength)
        return NetlinkMessage.request(table, NetlinkMessage.dumpFlag, sequence: number, payload: body)
    }

    /// Returns a number for a request that the owner makes.
    mutating func nextSequence() -> UInt32 {
        // The kernel's own messages have the number 0.
        sequence = sequence == .max ? 1 : sequence + 1
        return sequence
    }

    /// Notes that something was lost: everything is requested again.
    mutating func overran() { needs = Set(Self.tables.map(\.type)) }

    /// Notes that the last request could not be sent. It is sent again with the next change.
    mutating func failed() { dumping = nil }

    mutating func take(_ message: NetlinkMessage) {
        if message.flags & NetlinkMessage.interruptedFlag != 0, let dumping {
            needs.insert(dumping.table)
        }
        switch message.type {
        case NetlinkMessage.newLink: if let link = message.link(folder: folder) { set(link) }
        case NetlinkMessage.deleteLink: if let index = message.linkIndex { remove(index, message) }
        case NetlinkMessage.newAddress: changed(message) { $0.insert($1).inserted }
        case NetlinkMessage.deleteAddress: changed(message) { $0.remove($1) != nil }
        case NetlinkMessage.newRoute: if let route = message.defaultRoute { state.routes.insert(route) }
        case NetlinkMessage.deleteRoute: if let route = message.defaultRoute { state.routes.remove(route) }
        case NetlinkMessage.done, NetlinkMessage.error: ended(message.sequence)
        case NetlinkMessage.overrun: overran()
        default: break
        }
    }

    private mutating func set(_ link: NetworkState.Link) {
        let former = state.links.updateValue(link, forKey: link.index)
        if dumping?.table != NetlinkMessage.getLink, former != link { needs.insert(NetlinkMessage.getRoute) }
    }

    private mutating func remove(_ index: Int32, _ message: NetlinkMessage) {
        // The removal of a bridge's port (AF_BRIDGE) has the same type; the link itself stays.
        guard message.payload.first != 7 else { return }
        state.links[index] = nil
        needs.insert(NetlinkMessage.getRoute)
    }

    /// - Parameter change: returns whether it has changed anything.
    private mutating func changed(
        _ message: NetlinkMessage,
        _ change: (inout Set<NetworkState.Address>, NetworkState.Address) -> Bool
    ) {
        // An address that is no longer in use is reported as a new one, with that in its flags.
        guard let address = message.address else {
            if message.sequence == 0 { needs.formUnion([NetlinkMessage.getAddress, NetlinkMessage.getRoute]) }
            return
        }
        if change(&state.addresses, address), dumping?.table != NetlinkMessage.getAddress {
            needs.insert(NetlinkMessage.getRoute)
        }
    }

    /// Ends a table. An error does so too: requested again, it would give the same error.
    private mutating func ended(_ number: UInt32) {
        guard let (table, sequence) = dumping, sequence == number else { return }
        dumping = nil
        if table == NetlinkMessage.getRoute, needs.isEmpty { isComplete = true }
    }
}
