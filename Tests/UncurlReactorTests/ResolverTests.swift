import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Resolver", .ownThread)
struct ResolverTests {
    private static let address4 = IPAddress.v4(IPv4Address(bits: 0xC000_0201))
    private static let address6 = IPAddress.v6(IPv6Address(high: 0x2001_0DB8_0000_0000, low: 1))

    /// Collects answers on the loop and stops it after so many.
    private final class Answers {
        var all: [IPAddress.Family: Result<[IPAddress], ResolveError>] = [:]
        var count = 0
        let loop: EventLoop
        let expected: Int

        init(_ loop: EventLoop, expecting expected: Int) {
            self.loop = loop
            self.expected = expected
        }

        func take(_ family: IPAddress.Family, _ result: Result<[IPAddress], ResolveError>) {
            #expect(loop.isCurrent)
            all[family] = result
            count += 1
            if count == expected { loop.stop() }
        }
    }

    private func resolver(_ lookup: @escaping Resolver.LookupFunction) -> Resolver {
        var options = Resolver.Options()
        options.lookup = lookup
        return Resolver(options: options)
    }

    private func known(
        _ resolver: Resolver,
        _ host: String,
        _ families: Set<IPAddress.Family> = [.v4, .v6]
    )
        throws -> [IPAddress]
    {
        let loop = try EventLoop()
        guard case .known(let addresses) = try resolver.resolve(host, families: families, on: loop, answer: { _, _ in })
        else { return [] }
        return addresses
    }

    @Test("names of the hosts file are answered while every thread waits for a silent server")
    func hostsFile() throws {
        let bench = try LoopBench()
        let table = "# ours\n192.0.2.1\tBox.test  alias.test # no.test\r\n2001:db8::1 box.test\n"
        let file = TemporaryFile(Array(table.utf8))
        let silence = Gate()
        var options = Resolver.Options()
        options.threads = 1
        options.hostsFile = file.path
        options.lookup = { _, _ in
            silence.wait()
            return []
        }
        let resolver = Resolver(options: options)
        defer { silence.open() }
        let silent = Answers(bench.loop, expecting: .max)
        let answers = Answers(bench.loop, expecting: 3)
        bench.after(turns: 1) {
            do {
                for host in ["silent.test", "no.test"] {
                    _ = try resolver.resolve(host, on: bench.loop, answer: silent.take)
                }
                _ = try resolver.resolve("box.TEST.", on: bench.loop, answer: answers.take)
                _ = try resolver.resolve("alias.test", families: [.v4], on: bench.loop, answer: answers.take)
            } catch {
                Issue.record(error)
            }
        }
        bench.run()
        #expect(try answers.all[.v4]?.get() == [Self.address4])
        #expect(try answers.all[.v6]?.get() == [Self.address6])
        #expect(silent.count == 0)
    }

    @Test("a name that the hosts file has in one family is looked up in neither")
    func hostsFileAlone() throws {
        let bench = try LoopBench()
        let file = TemporaryFile(Array("192.0.2.1 box.test\n".utf8))
        var options = Resolver.Options()
        options.hostsFile = file.path
        options.lookup = { host, _ in
            Issue.record("looked up \(host)")
            return [Self.address6]
        }
        let resolver = Resolver(options: options)
        let answers = Answers(bench.loop, expecting: 2)
        _ = try resolver.resolve("box.test", on: bench.loop) { answers.take($0, $1) }
        bench.run()
        #expect(answers.all == [.v4: .success([Self.address4]), .v6: .failure(.noAddress)])
    }

    @Test("eight silent names leave room for a ninth")
    func manySilent() throws {
        let bench = try LoopBench()
        let silence = Gate()
        defer { silence.open() }
        let resolver = resolver { host, family in
            if host.hasPrefix("silent") { silence.wait() }
            return family == .v4 ? [Self.address4] : [Self.address6]
        }
        let answers = Answers(bench.loop, expecting: 2)
        bench.after(turns: 1) {
            do {
                for number in 0..<8 {
                    _ = try resolver.resolve("silent\(number).test", on: bench.loop) { _, _ in }
                }
                _ = try resolver.resolve("box.test", on: bench.loop, answer: answers.take)
            } catch {
                Issue.record(error)
            }
        }
        bench.run()
        #expect(answers.count == 2)
    }

    @Test("numeric hosts and localhost are answered without a look-up")
    func knownHosts() throws {
        let resolver = resolver { host, _ in
            Issue.record("looked up \(host)")
            return []
        }
        #expect(try known(resolver, "192.0.2.1") == [Self.address4])
        #expect(try known(resolver, "2001:db8::1") == [Self.address6])
        for host in ["localhost", "LocalHost.", "any.localhost"] {
            #expect(try known(resolver, host) == [.v6(.loopback), .v4(.loopback)])
            #expect(try known(resolver, host, [.v4]) == [.v4(.loopback)])
        }
    }

    @Test("names below onion are told to no server, and have the addresses that this machine gives them")
    func onion() throws {
        let bench = try LoopBench()
        var options = Resolver.Options()
        let file = TemporaryFile(Array("192.0.2.1 here.onion\n".utf8))
        options.hostsFile = file.path
        options.overrides = ["set.onion": [Self.address4]]
        options.lookup = { host, _ in
            Issue.record("looked up \(host)")
            return []
        }
        let resolver = Resolver(options: options)
        #expect(try known(resolver, "set.onion") == [Self.address4])
        let unknown = ["onion", "a.onion", "a.b.ONION."]
        let answers = Answers(bench.loop, expecting: unknown.count + 1)
        var lookups: [Resolver.Resolution] = []
        for host in unknown + ["here.onion"] {
            let lookup = try resolver.resolve(host, families: [.v4], on: bench.loop) { family, result in
                #expect(result == (host == "here.onion" ? .success([Self.address4]) : .failure(.noSuchHost)))
                answers.take(family, result)
            }
            lookups.append(lookup)
        }
        bench.run()
        #expect(answers.count == unknown.count + 1)
        withExtendedLifetime((file, lookups)) {}
    }

    @Test("overrides go before everything but numbers, in any case")
    func overrides() throws {
        var options = Resolver.Options()
        options.overrides = ["Example.Test": [Self.address4]]
        options.lookup = { host, _ in
            Issue.record("looked up \(host)")
            return []
        }
        let resolver = Resolver(options: options)
        #expect(try known(resolver, "example.TEST.") == [Self.address4])
        #expect(throws: ResolveError.noAddress) { try known(resolver, "example.test", [.v6]) }
    }

    @Test("what is no name is refused at once")
    func refusals() throws {
        let resolver = resolver { _, _ in [] }
        for host in ["", "a\0b", "127.1", String(repeating: "x", count: 300)] {
            #expect(throws: ResolveError.self) { try known(resolver, host) }
        }
    }

    @Test("the families are answered apart: a slow AAAA does not hold back A")
    func families() throws {
        let bench = try LoopBench()
        let slow = Gate()
        let resolver = resolver { _, family in
            guard family == .v6 else { return [Self.address4] }
            slow.wait()
            return [Self.address6]
        }
        let answers = Answers(bench.loop, expecting: 2)
        _ = try resolver.resolve("example.test", on: bench.loop) { family, result in
            if family == .v4 {
                #expect(!slow.isOpen)
                slow.open()
            }
            answers.take(family, result)
        }
        bench.run()
        #expect(answers.all == [.v4: .success([Self.address4]), .v6: .success([Self.address6])])
    }

    @Test("equal look-ups under way share one call, and everyone is answered")
    func coalescing() throws {
        let bench = try LoopBench()
        let calls = Shared(0)
        let gate = Gate()
        let resolver = resolver { _, _ in
            calls.change { $0 += 1 }
            gate.wait()
            return [Self.address4]
        }
        let answers = Answers(bench.loop, expecting: 5)
        for host in ["example.test", "EXAMPLE.test", "example.test", "Example.Test", "example.test"] {
            _ = try resolver.resolve(host, families: [.v4], on: bench.loop) { answers.take($0, $1) }
        }
        gate.open()
        bench.run()
        #expect(answers.count == 5)
        #expect(calls.value == 1)
    }

    @Test("a look-up does not join one that everyone has given up, and which hangs")
    func givenUp() throws {
        let bench = try LoopBench()
        let (gate, started) = (Gate(), Gate())
        defer { gate.open() }
        let calls = Shared(0)
        let resolver = resolver { _, _ in
            calls.change { $0 += 1 }
            if calls.value == 1 {
                started.open()
                gate.wait()
            }
            return [Self.address4]
        }
        let first = try resolver.resolve("example.test", families: [.v4], on: bench.loop) { _, _ in
            Issue.record("answered after cancel")
        }
        #expect(started.wait())
        guard case .pending(let lookup) = first else { throw ResolveError.invalidName }
        lookup.cancel()
        let answers = Answers(bench.loop, expecting: 1)
        _ = try resolver.resolve("example.test", families: [.v4], on: bench.loop) { answers.take($0, $1) }
        bench.run()
        #expect(answers.all == [.v4: .success([Self.address4])])
        #expect(!gate.isOpen)
    }

    @Test("a look-up asks anew if the one under way is a second old, whose waiter keeps its place")
    func anew() throws {
        let bench = try LoopBench(manual: true)
        let clock = try #require(bench.clock)
        let (gate, started) = (Gate(), Gate())
        let calls = Shared(0)
        let resolver = resolver { _, _ in
            calls.change { $0 += 1 }
            guard calls.value == 1 else { return [.v4(IPv4Address(bits: 0xC000_0202))] }
            started.open()
            gate.wait()
            return [Self.address4]
        }
        let (patient, late) = (Answers(bench.loop, expecting: 1), Answers(bench.loop, expecting: .max))
        _ = try resolver.resolve("example.test", families: [.v4], on: bench.loop) { patient.take($0, $1) }
        #expect(started.wait())
        clock.advance(by: .seconds(1), waking: bench.loop)
        bench.after(turns: 2) {
            do {
                _ = try resolver.resolve("example.test", families: [.v4], on: bench.loop) {
                    late.take($0, $1)
                    gate.open()
                }
            } catch {
                Issue.record(error)
            }
        }
        bench.run()
        #expect(late.all == [.v4: .success([.v4(IPv4Address(bits: 0xC000_0202))])])
        #expect(patient.all == [.v4: .success([Self.address4])])
    }

    @Test("a name that is asked for again and again takes four threads a family, however long its servers are silent")
    func mostCalls() throws {
        let bench = try LoopBench(manual: true)
        let clock = try #require(bench.clock)
        let gate = Gate()
        let calls = Shared(0)
        let resolver = resolver { _, _ in
            calls.change { $0 += 1 }
            gate.wait()
            return [Self.address4]
        }
        let answers = Answers(bench.loop, expecting: 6)
        bench.after(turns: 1) {
            do {
                for count in 1...6 {
                    _ = try resolver.resolve("example.test", families: [.v4], on: bench.loop) { answers.take($0, $1) }
                    #expect(calls.wait { $0 >= min(count, 4) })
                    clock.advance(by: .seconds(1), waking: bench.loop)
                    _ = bench.loop.stamp()
                }
            } catch {
                Issue.record(error)
            }
            gate.open()
        }
        bench.run()
        #expect(answers.count == 6)
        #expect(calls.value == 4)
    }

    @Test("a thousand names whose servers are silent do not stop another name, in either family")
    func thousandSilent() throws {
        let bench = try LoopBench()
        let silence = Gate()
        defer { silence.open() }
        let calls = Shared(0)
        let resolver = resolver { host, family in
            guard host == "good.test" else {
                calls.change { $0 += 1 }
                silence.wait()
                return []
            }
            return [family == .v4 ? Self.address4 : Self.address6]
        }
        let (silent, good) = (Answers(bench.loop, expecting: .max), Answers(bench.loop, expecting: 2))
        bench.after(turns: 1) {
            do {
                for number in 1...1_000 {
                    _ = try resolver.resolve("silent\(number).test", on: bench.loop, answer: silent.take)
                }
                // As many as there are threads for; the others wait for the thread of their own name.
                #expect(calls.wait { $0 >= 1_000 })
                _ = try resolver.resolve("good.test", on: bench.loop, answer: good.take)
            } catch {
                Issue.record(error)
            }
        }
        bench.run()
        #expect(good.all == [.v4: .success([Self.address4]), .v6: .success([Self.address6])])
        #expect(silent.count == 0)
    }

    @Test("a name that had addresses is looked up again while names whose servers are silent have every thread")
    func keptThreads() throws {
        let silence = Gate()
        defer { silence.open() }
        var options = Resolver.Options()
        options.threads = 64
        let calls = Shared(0)
        options.lookup = { host, family in
            guard host == "good.test" else {
                calls.change { $0 += 1 }
                silence.wait()
                return []
            }
            return [family == .v4 ? Self.address4 : Self.address6]
        }
        let resolver = Resolver(options: options)
        for isCrowded in [false, true] {
            let bench = try LoopBench()
            let (silent, good) = (Answers(bench.loop, expecting: .max), Answers(bench.loop, expecting: 2))
            bench.after(turns: 1) {
                do {
                    for number in 1...100 where isCrowded {
                        _ = try resolver.resolve("silent\(number).test", on: bench.loop, answer: silent.take)
                    }
                    if isCrowded { #expect(calls.wait { $0 >= 64 }) }
                    _ = try resolver.resolve("good.test", on: bench.loop, answer: good.take)
                } catch {
                    Issue.record(error)
                }
            }
            bench.run()
            #expect(good.all == [.v4: .success([Self.address4]), .v6: .success([Self.address6])])
        }
    }

    @Test("a later look-up asks anew: there is no cache")
    func noCache() throws {
        let calls = Shared(0)
        let resolver = resolver { _, _ in
            calls.change { $0 += 1 }
            return [Self.address4]
        }
        for _ in 0..<2 {
            let bench = try LoopBench()
            let answers = Answers(bench.loop, expecting: 1)
            _ = try resolver.resolve("example.test", families: [.v4], on: bench.loop) { answers.take($0, $1) }
            bench.run()
        }
        #expect(calls.value == 2)
    }

    @Test(
        "errors arrive as they are",
        arguments: [ResolveError.noSuchHost, .noAddress, .temporaryFailure, .system(.tooManyOpenFiles)]
    )
    func errors(error: ResolveError) throws {
        let bench = try LoopBench()
        let resolver = resolver { _, _ throws(ResolveError) in throw error }
        let answers = Answers(bench.loop, expecting: 2)
        _ = try resolver.resolve("example.test", on: bench.loop) { answers.take($0, $1) }
        bench.run()
        #expect(answers.all == [.v4: .failure(error), .v6: .failure(error)])
    }

    @Test("an empty answer, or one of the other family alone, is no address")
    func emptyAnswer() throws {
        let bench = try LoopBench()
        let resolver = resolver { _, family in family == .v4 ? [] : [Self.address4] }
        let answers = Answers(bench.loop, expecting: 2)
        _ = try resolver.resolve("example.test", on: bench.loop) { answers.take($0, $1) }
        bench.run()
        #expect(answers.all == [.v4: .failure(.noAddress), .v6: .failure(.noAddress)])
    }

    @Test("an answer of a thousand addresses is cut to 64")
    func manyAddresses() throws {
        let bench = try LoopBench()
        let resolver = resolver { _, _ in (0..<1_000).map { .v4(IPv4Address(bits: $0)) } }
        let answers = Answers(bench.loop, expecting: 1)
        _ = try resolver.resolve("example.test", families: [.v4], on: bench.loop) { answers.take($0, $1) }
        bench.run()
        #expect(try answers.all[.v4]?.get().count == 64)
    }

    @Test("beyond the queue look-ups are refused")
    func tooMany() throws {
        let bench = try LoopBench()
        let gate = Gate()
        let started = Gate()
        var options = Resolver.Options()
        // The names go straight to the look-up's queue, so that the last is refused before the first is answered.
        options.hostsFile = nil
        options.threads = 1
        options.maximumWaiting = 1
        options.lookup = { _, _ in
            started.open()
            gate.wait()
            return [Self.address4]
        }
        let resolver = Resolver(options: options)
        let answers = Answers(bench.loop, expecting: 3)
        var refused: [String] = []
        for host in ["one.test", "two.test", "three.test"] {
            _ = try resolver.resolve(host, families: [.v4], on: bench.loop) { family, result in
                if result == .failure(.tooManyLookups) { refused.append(host) }
                answers.take(family, result)
            }
            if host == "one.test" { #expect(started.wait()) }
        }
        gate.open()
        bench.run()
        #expect(refused == ["three.test"])
    }

    @Test("a cancelled look-up is never answered, and one that waits is not even made")
    func cancel() throws {
        let bench = try LoopBench()
        let (gate, started) = (Gate(), Gate())
        let asked = Shared<[String]>([])
        var options = Resolver.Options()
        options.threads = 1
        options.lookup = { host, _ in
            asked.change { $0.append(host) }
            started.open()
            gate.wait()
            return [Self.address4]
        }
        let resolver = Resolver(options: options)
        for host in ["one.test", "two.test"] {
            let resolution = try resolver.resolve(host, families: [.v4], on: bench.loop) { _, _ in
                Issue.record("answered after cancel")
            }
            if host == "one.test" { #expect(started.wait()) }
            guard case .pending(let lookup) = resolution else { throw ResolveError.invalidName }
            lookup.cancel()
        }
        let answers = Answers(bench.loop, expecting: 1)
        _ = try resolver.resolve("three.test", families: [.v4], on: bench.loop) { answers.take($0, $1) }
        gate.open()
        bench.run()
        #expect(asked.value == ["one.test", "three.test"])
    }

    @Test("shutdown answers what waits, and everything after")
    func shutdown() throws {
        let bench = try LoopBench()
        let gate = Gate()
        let resolver = resolver { _, _ in
            gate.wait()
            return []
        }
        let answers = Answers(bench.loop, expecting: 4)
        _ = try resolver.resolve("example.test", on: bench.loop) { answers.take($0, $1) }
        resolver.shutdown()
        resolver.shutdown()
        _ = try resolver.resolve("other.test", on: bench.loop) { answers.take($0, $1) }
        bench.run()
        gate.open()
        #expect(answers.all == [.v4: .failure(.shutDown), .v6: .failure(.shutDown)])
    }
}
