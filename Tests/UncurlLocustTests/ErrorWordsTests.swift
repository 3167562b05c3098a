import TestSupport
import Testing
import UncurlLoad

@testable import UncurlLocust

/// One of each case of the room's errors, with a part of what it must say.
@Suite("Words of a worker's errors", .ownThread)
struct ErrorWordsTests {
    private static let table: [(any Error & CustomStringConvertible, String)] = [
        (LocustError.load(.endless), "the run would never end"),
        (LocustError.notReadyForTLS(url: "https://a.test/"), "give it an https URL too"),
        (LocustError.noTarget, "there is no URL to test: give the worker one"),
        (LocustError.pipelinedRate(.properties), "pipeline is for a closed loop"),
        (LocustError.rate("x", .notARate), "target_rate \"x\" is no rate: use requests a second"),
        (LocustError.rate("0", .zero), "target_rate \"0\" must be more than 0"),
        (LocustError.rate("9G", .tooHigh), "target_rate \"9G\" is too high: at most 1G/s"),
        (LocustError.unknownUsers, "start it with -u"),
        (LocustError.noAddress("m"), "the master \"m\" has no address"),
        (LocustError.thread(reason: "no memory"), "look the master up: no memory"),
        (LocustError.master(.silent(seconds: 9)), "silent for 9 seconds: start a master there first"),
        (LocustError.unreachable("refused"), "cannot be reached: refused"),
        (LocustError.notZeroMQ, "not a Locust master: it does not speak ZeroMQ"),
        (LocustError.gone("closed"), "the master has gone: closed"),
        (LocustError.unreadable("it is short"), "cannot be read: it is short"),
        (LocustError.version(2), "ZMTP 2, which is older than 3.0"),
        (LocustError.mechanism("CURVE"), "mechanism \"CURVE\""),
        (LocustError.socketType("PUB"), "a \"PUB\", not a ROUTER"), (LocustError.frameTooLong(9), "a frame of 9 bytes"),
        (LocustError.malformedCommand, "a command that cannot be read"), (LocustError.refused("no"), "it refuses: no"),
    ]

    @Test("each error says in one line what is wrong", arguments: table.indices)
    func words(index: Int) {
        let (error, fragment) = Self.table[index]
        let said = "\(error)"
        #expect(said.contains(fragment), "\(said)")
        #expect(!said.hasSuffix(".") && !said.contains("\n") && !said.contains("nobody"), "\(said)")
    }
}
