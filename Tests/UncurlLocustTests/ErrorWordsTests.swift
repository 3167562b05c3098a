import TestSupport
import Testing
import UncurlLoad
import UncurlLocust

/// One of each case of the room's errors, with a part of what it must say.
@Suite("Words of a worker's errors", .ownThread)
struct ErrorWordsTests {
    private static let table: [(any Error & CustomStringConvertible, String)] = [
        (LocustProblem.load(.endless), "the run would never end"),
        (LocustProblem.notReadyForTLS(url: "https://a.test/"), "give it an https URL too"),
        (LocustProblem.noTarget, "there is no URL to test: give the worker one"),
        (LocustProblem.pipelinedRate, "pipeline is for a closed loop"),
        (LocustProblem.rate("x", .notARate), "target_rate \"x\" is no rate: use requests a second"),
        (LocustProblem.rate("0", .zero), "target_rate \"0\" must be more than 0"),
        (LocustProblem.rate("9G", .tooHigh), "target_rate \"9G\" is too high: at most 1G/s"),
        (LocustProblem.unknownUsers, "start it with -u"),
        (LocustProblem.noAddress("m"), "the master \"m\" has no address"),
        (LocustProblem.thread(reason: "no memory"), "look the master up: no memory"),
        (LocustProblem.master(.silent(seconds: 9)), "silent for 9 seconds: start a master there first"),
        (LocustError.unreachable("refused"), "cannot be reached: refused"),
        (LocustError.peer(.notZeroMQ), "not a Locust master: it does not speak ZeroMQ"),
        (LocustError.gone("closed"), "the master has gone: closed"),
        (LocustError.unreadable("it is short"), "cannot be read: it is short"),
        (ZMTPError.version(2), "ZMTP 2, which is older than 3.0"),
        (ZMTPError.mechanism("CURVE"), "mechanism \"CURVE\""),
        (ZMTPError.socketType("PUB"), "a \"PUB\", not a ROUTER"), (ZMTPError.frameTooLong(9), "a frame of 9 bytes"),
        (ZMTPError.malformedCommand, "a command that cannot be read"), (ZMTPError.refused("no"), "it refuses: no"),
        (MessagePackError.truncated, "ends within a value"), (MessagePackError.trailingBytes, "follows the value"),
        (MessagePackError.notUTF8, "not UTF-8"), (MessagePackError.tooDeep(limit: 9), "more than 9 deep"),
        (MessagePackError.unusedByte, "0xc1"),
    ]

    @Test("each error says in one line what is wrong", arguments: table.indices)
    func words(index: Int) {
        let (error, fragment) = Self.table[index]
        let said = "\(error)"
        #expect(said.contains(fragment), "\(said)")
        #expect(!said.hasSuffix(".") && !said.contains("\n") && !said.contains("nobody"), "\(said)")
    }
}
