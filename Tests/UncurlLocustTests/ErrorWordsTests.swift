import TestSupport
import Testing
import UncurlLoad

@testable import UncurlLocust

/// One of each case of the room's errors, with a part of what it must say.
@Suite("Words of a worker's errors", .ownThread)
struct ErrorWordsTests {
    private static let table: [(any Error & CustomStringConvertible, String)] = [
        (UsageError.load(.endless), "the run would never end"),
        (UsageError.notReadyForTLS(url: "https://a.test/"), "give it an https URL too"),
        (UsageError.noTarget, "there is no URL to test: give the worker one"),
        (UsageError.pipelinedRate([:]), "pipeline is for a closed loop"),
        (UsageError.unknownUsers, "start it with -u"),
        (UsageError.noAddress("m"), "the master \"m\" has no address"),
        (UsageError.thread(reason: "no memory"), "look the master up: no memory"),
        (UsageError.master(.silent(seconds: 9)), "silent for 9 seconds: start a master there first"),
        (UsageError.unreachable("refused"), "cannot be reached: refused"),
        (UsageError.notZeroMQ, "not a Locust master: it does not speak ZeroMQ"),
        (UsageError.gone("closed"), "the master has gone: closed"),
        (UsageError.unreadable("it is short"), "cannot be read: it is short"),
        (UsageError.version(2), "ZMTP 2, which is older than 3.0"),
        (UsageError.mechanism("CURVE"), "mechanism \"CURVE\""),
        (UsageError.socketType("PUB"), "a \"PUB\", not a ROUTER"), (UsageError.frameTooLong(9), "a frame of 9 bytes"),
        (UsageError.malformedCommand, "a command that cannot be read"), (UsageError.refused("no"), "it refuses: no"),
    ]

    @Test("each error says in one line what is wrong", arguments: table.indices)
    func words(index: Int) {
        let (error, fragment) = Self.table[index]
        let said = "\(error)"
        #expect(said.contains(fragment), "\(said)")
        #expect(!said.hasSuffix(".") && !said.contains("\n") && !said.contains("nobody"), "\(said)")
    }
}
