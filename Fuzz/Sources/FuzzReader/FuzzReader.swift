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

/// How many times as long as ``measure`` an input may take, for each 64 KiB that it begins. Both are read by code under
/// the same sanitizers, so the speed of the machine does not matter.
private let limit = 20.0
/// 64 KiB of JSON.
private let measure = Array(("[" + String(repeating: #"{"k":[1,"v",null]},"#, count: 3_449) + "0]").utf8)
private let json = Reader.all.first { $0.name == "json" }

/// The CPU time of this thread that reading takes, in seconds.
private func time(of octets: [UInt8], by reader: Reader?) -> Double {
    func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    let start = now()
    reader?.read(octets)
    return now() - start
}

/// libFuzzer's entry; `input` is nil for no octets.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ input: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let octets = Array(UnsafeBufferPointer(start: input, count: count))
    let most = limit * Double(count / 65_536 + 1)
    // A machine with other work may be slow once; the same input is not three times.
    for attempt in 1...3 {
        let taken = time(of: octets, by: reader)
        // For nearly every input, this spares the comparison.
        if taken < 0.01 { break }
        let usual = time(of: measure, by: json)
        if taken < most * usual { break }
        if attempt == 3 { fatalError("property violated: \(count) octets took \(taken) s, 64 KiB of JSON \(usual) s") }
    }
    return 0
}
