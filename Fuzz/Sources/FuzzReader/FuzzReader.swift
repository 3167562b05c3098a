import Glibc
import Readers

/// The reader that the environment names; all of them are listed for `list`.
private let reader: Reader = {
    let name = getenv("READER").map { String(cString: $0) } ?? ""
    if name == "list" {
        for reader in Reader.all { print(reader.name, reader.source, reader.rest) }
        // libFuzzer takes a plain exit for a finding, and ends the process before the lines are written.
        fflush(nil)
        _exit(0)
    }
    guard let reader = Reader.all.first(where: { $0.name == name }) else {
        let names = Reader.all.map(\.name).joined(separator: "\n")
        print("FuzzReader: READER is to be one of:\n\(names)")
        exit(2)
    }
    return reader
}()

/// What an input may take, in seconds for each 64 KiB that it begins. A reader whose time grows with the octets and no
/// faster may take ten times as long: how long an octet takes is also the sanitizers' and the machine's affair.
private let limit = 0.1

/// The CPU time of this thread that reading takes, in seconds.
private func time(of octets: [UInt8]) -> Double {
    func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    let start = now()
    reader.read(octets)
    return now() - start
}

/// libFuzzer's entry; `input` is nil for no octets.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ input: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let octets = Array(UnsafeBufferPointer(start: input, count: count))
    let most = limit * Double(count / 65_536 + 1)
    // A machine with other work may be slow once; the same input is not three times.
    for attempt in 1...3 {
        let taken = time(of: octets)
        if taken < most || taken < 10 * most && taken < 3 * time(of: Array(octets.prefix(count / 2))) { break }
        if attempt == 3 { fatalError("property violated: \(count) octets took \(taken) s") }
    }
    return 0
}
