import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Routing tables", .ownThread)
struct RoutingTablesTests {
    // MARK: The kernel's messages, made by hand

    private static let port: UInt32 = 77

    private static func message(
        _ type: UInt16,
        sequence: UInt32 = 0,
        port: UInt32 = 0,
        flags: UInt16 = 0,
        _ payload: [UInt8]
    )
        -> [UInt8]
    {
        var bytes = NetlinkMessage.request(type, flags, sequence: sequence, payload: payload)
        var own: [UInt8] = []
        own.append(number: port)
        bytes.replaceSubrange(12..<16, with: own)
        return bytes + [UInt8](repeating: 0, count: NetlinkMessage.aligned(bytes.count) - bytes.count)
    }

    private static func number<Number: FixedWidthInteger & BitwiseCopyable>(_ value: Number) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: value)
        return bytes
    }

    private static func link(
        _ index: Int32,
        _ name: String,
        flags: UInt32 = 0x41,
        hardware: UInt16 = 1,
        kind: String? = nil
    )
        -> [UInt8]
    {
        var body: [UInt8] = [0, 0] + number(hardware) + number(index) + number(flags) + number(UInt32(0))
        body += NetlinkMessage.attribute(3, Array(name.utf8) + [0])
        if let kind { body += NetlinkMessage.attribute(18, NetlinkMessage.attribute(1, Array(kind.utf8) + [0])) }
        return body
    }

    private static func address(_ index: UInt32, _ bytes: [UInt8], flags: UInt8 = 0) -> [UInt8] {
        [bytes.count == 4 ? 2 : 10, 24, flags, 0] + number(index) + NetlinkMessage.attribute(1, bytes)
    }

    private static func route(
        _ index: Int32,
        family: UInt8 = 2,
        prefix: UInt8 = 0,
        kind: UInt8 = 1,
        metric: UInt32? = nil
    )
        -> [UInt8]
    {
        var body: [UInt8] = [family, prefix, 0, 0, 254, 0, 0, kind] + number(UInt32(0))
        body += NetlinkMessage.attribute(4, number(index))
        if let metric { body += NetlinkMessage.attribute(6, number(metric)) }
        return body
    }

    private static func parse(_ bytes: [UInt8]) -> [NetlinkMessage] { NetlinkMessage.all(in: bytes[...], port: port) }

    /// Tables that have asked for everything, and been told it.
    private static func settled(_ links: [[UInt8]], _ addresses: [[UInt8]], _ routes: [[UInt8]]) -> RoutingTables {
        var tables = RoutingTables(folder: "/nowhere")
        answer(&tables, links, addresses, routes)
        return tables
    }

    private static func answer(
        _ tables: inout RoutingTables,
        _ links: [[UInt8]],
        _ addresses: [[UInt8]],
        _ routes: [[UInt8]]
    ) {
        while let request = tables.nextRequest() {
            let asked = NetlinkMessage.all(in: request[...], port: 0)[0]
            let told: (UInt16, [[UInt8]]) =
                switch asked.type {
                case NetlinkMessage.getLink: (16, links)
                case NetlinkMessage.getAddress: (20, addresses)
                default: (24, routes)
                }
            var bytes: [UInt8] = []
            for body in told.1 { bytes += message(told.0, sequence: asked.sequence, port: port, body) }
            bytes += message(3, sequence: asked.sequence, port: port, number(UInt32(0)))
            for one in parse(bytes) { tables.take(one) }
        }
    }

    private static let usual = (links: [link(2, "eth0")], addresses: [address(2, [10, 0, 0, 1])], routes: [route(2)])

    @Test("three tables are asked for, one at a time, and then what they say is whole")
    func dump() throws {
        var tables = RoutingTables(folder: "/nowhere")
        let request = tables.nextRequest()
        let first = try #require(request)
        #expect(NetlinkMessage.all(in: first[...], port: 0)[0].type == NetlinkMessage.getLink)
        do {
            let more = tables.nextRequest()
            #expect(more == nil, "the kernel tells one table at a time")
        }
        #expect(!tables.isSettled)
        let settled = Self.settled(Self.usual.links, Self.usual.addresses, Self.usual.routes)
        #expect(settled.isSettled)
        #expect(settled.state.links[2]?.name == "eth0")
        #expect(settled.state.addresses.map(\.address) == [.v4(IPv4Address(bits: 0x0A00_0001))])
        #expect(settled.state.medium(of: .v4) == .wired && settled.state.medium(of: .v6) == nil)
    }

    @Test("a link that loses its carrier is no way out, and asks for the routes again, of which some go in silence")
    func carrier() throws {
        var tables = Self.settled(Self.usual.links, Self.usual.addresses, Self.usual.routes)
        for one in Self.parse(Self.message(16, Self.link(2, "eth0", flags: 0x1))) { tables.take(one) }
        #expect(!tables.isSettled)
        Self.answer(&tables, [], [], Self.usual.routes)
        #expect(tables.isSettled && tables.state.medium(of: .v4) == nil)
        for one in Self.parse(Self.message(16, Self.link(2, "eth0"))) { tables.take(one) }
        Self.answer(&tables, [], [], [])
        #expect(tables.state.routes.isEmpty && tables.state.medium(of: .v4) == nil)
        for one in Self.parse(Self.message(24, Self.route(2))) { tables.take(one) }
        #expect(tables.isSettled && tables.state.medium(of: .v4) == .wired)
    }

    @Test("news of another program's bear its numbers, and end no table of ours")
    func strangers() throws {
        var tables = RoutingTables(folder: "/nowhere")
        let askedRequest = tables.nextRequest()
        let asked = NetlinkMessage.all(in: try #require(askedRequest)[...], port: 0)[0]
        for one in Self.parse(Self.message(3, sequence: asked.sequence, port: 5, [])) { tables.take(one) }
        do {
            let more = tables.nextRequest()
            #expect(more == nil)
        }
        for one in Self.parse(Self.message(3, sequence: asked.sequence, port: Self.port, [])) { tables.take(one) }
        do {
            let more = tables.nextRequest()
            #expect(more != nil)
        }
    }

    @Test("a table that changed while it was told is told again, and so is everything after an overrun")
    func again() throws {
        var tables = RoutingTables(folder: "/nowhere")
        let askedRequest = tables.nextRequest()
        let asked = NetlinkMessage.all(in: try #require(askedRequest)[...], port: 0)[0]
        let flags = NetlinkMessage.interruptedFlag
        for one in Self.parse(
            Self.message(3, sequence: asked.sequence, port: Self.port, flags: flags, Self.number(UInt32(0)))
        ) { tables.take(one) }
        let nextRequest = tables.nextRequest()
        let next = NetlinkMessage.all(in: try #require(nextRequest)[...], port: 0)[0]
        #expect(next.type == NetlinkMessage.getLink)
        var settled = Self.settled(Self.usual.links, Self.usual.addresses, Self.usual.routes)
        settled.overran()
        #expect(!settled.isSettled)
        Self.answer(&settled, Self.usual.links, [], [])
        #expect(settled.isSettled && settled.state.addresses.isEmpty)
    }

    @Test("an address that is only being tried is none yet; one that was taken away counts no more")
    func addresses() {
        let trying = Self.address(2, [10, 0, 0, 1], flags: 0x40)
        var tables = Self.settled(Self.usual.links, [trying], Self.usual.routes)
        #expect(tables.state.addresses.isEmpty && tables.state.medium(of: .v4) == nil)
        for one in Self.parse(Self.message(20, Self.address(2, [10, 0, 0, 1]))) { tables.take(one) }
        Self.answer(&tables, [], [], Self.usual.routes)
        #expect(tables.state.medium(of: .v4) == .wired)
        for one in Self.parse(Self.message(21, Self.address(2, [10, 0, 0, 1]))) { tables.take(one) }
        Self.answer(&tables, [], [], Self.usual.routes)
        #expect(tables.state.medium(of: .v4) == nil)
        let local = Self.settled(Self.usual.links, [Self.address(2, [169, 254, 1, 1])], Self.usual.routes)
        #expect(local.state.medium(of: .v4) == nil)
    }

    @Test("an address that is reported again, or whose end is reported twice, changes nothing")
    func sameAddress() {
        var tables = Self.settled(Self.usual.links, Self.usual.addresses, Self.usual.routes)
        for one in Self.parse(Self.message(20, Self.address(2, [10, 0, 0, 1]))) { tables.take(one) }
        #expect(tables.isSettled)
        for one in Self.parse(Self.message(21, Self.address(2, [10, 0, 0, 2]))) { tables.take(one) }
        #expect(tables.isSettled && tables.state.addresses.count == 1)
        for one in Self.parse(Self.message(21, Self.address(2, [10, 0, 0, 1]))) { tables.take(one) }
        #expect(!tables.isSettled && tables.state.addresses.isEmpty)
    }

    @Test("of two ways the one of less metric counts, and halves before the whole")
    func preference() {
        let links = [Self.link(2, "eth0"), Self.link(3, "wlan0"), Self.link(4, "wwan0")]
        let addresses = (2...4).map { Self.address($0, [10, 0, 0, UInt8($0)]) }
        func medium(_ routes: [[UInt8]]) -> LinkMedium? {
            Self.settled(links, addresses, routes).state.medium(of: .v4)
        }
        #expect(medium([Self.route(2, metric: 600), Self.route(3, metric: 100)]) == .wireless)
        #expect(medium([Self.route(2), Self.route(3, metric: 100)]) == .wired)
        #expect(medium([Self.route(2), Self.route(4, prefix: 1)]) == .cellular)
        #expect(
            medium([Self.route(2, kind: 7), Self.route(3, prefix: 24)]) == nil,
            "unreachable, and not to everywhere"
        )
    }

    @Test("a link's medium is decided by its hardware and kind before its name")
    func media() {
        func medium(_ name: String, hardware: UInt16 = 1, kind: String? = nil) -> LinkMedium? {
            Self.settled([Self.link(2, name, hardware: hardware, kind: kind)], [], []).state.links[2]?.medium
        }
        #expect(medium("eth0") == .wired && medium("enp3s0") == .wired && medium("tun0", kind: "tun") == .wired)
        #expect(medium("wlp2s0") == .wireless && medium("x", hardware: 803) == .wireless)
        #expect(medium("wwp0s20f0") == .cellular && medium("x", hardware: 519) == .cellular)
        #expect(medium("x", kind: "wwan") == .cellular && medium("wlan-bridge", kind: "bridge") == .wired)
    }

    @Test("cut short anywhere, or of nonsense, messages are read without harm")
    func damage() {
        let whole =
            Self.message(16, Self.link(2, "eth0", kind: "veth")) + Self.message(20, Self.address(2, [10, 0, 0, 1]))
            + Self.message(24, Self.route(2, metric: 3))
        for count in 0...whole.count {
            for one in Self.parse(Array(whole[..<count])) {
                _ = (one.link(folder: "/nowhere"), one.address, one.defaultRoute, one.path)
            }
        }
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            var bytes = whole
            for _ in 0..<4 {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            var tables = RoutingTables(folder: "/nowhere")
            for one in Self.parse(bytes) {
                tables.take(one)
                _ = (one.link(folder: "/nowhere"), one.address, one.defaultRoute, one.path)
            }
        }
    }
}
