/// libFuzzer's own mutations. Returns the new length.
@_silgen_name("LLVMFuzzerMutate")
private func mutate(_ data: UnsafeMutablePointer<UInt8>, _ count: Int, _ most: Int) -> Int

/// Marks that Unicode reorders: Swift compares and hashes a String with a long run of them in quadratic time.
private let marks = Array("\u{0345}\u{0301}\u{0316}\u{05B0}".utf8)

/// libFuzzer's entry for mutations. Each 256th repeats a piece of the input, or marks, until the input has 64 KiB: what
/// takes quadratic time shows in long inputs alone, and octet by octet the fuzzer would not come to them.
@_cdecl("LLVMFuzzerCustomMutator")
public func lengthen(_ data: UnsafeMutablePointer<UInt8>, _ count: Int, _ most: Int, _ seed: UInt32) -> Int {
    let length = min(most, 65_536)
    guard seed % 256 == 0, count > 0, count < length else { return mutate(data, count, most) }
    let number = Int(seed / 256)
    let input = Array(UnsafeBufferPointer(start: data, count: count))
    let rest = input[(number / 2 % count)...]
    let piece = number % 2 == 0 ? Array(rest.prefix(1 + number % 63)) : marks
    var output = input[..<rest.startIndex]
    while output.count + piece.count + rest.count <= length { output += piece }
    output += rest
    for (index, octet) in output.enumerated() { data[index] = octet }
    return output.count
}
