/// A separately stored grid of pixels: the whole image, or one of the seven passes of an interlaced image (§8.2).
struct PNGPass {
    let width: Int
    let height: Int
    let startX: Int
    let startY: Int
    let stepX: Int
    let stepY: Int

    private init?(_ header: PNGChunks.Header, _ start: (Int, Int), _ step: (Int, Int)) {
        width = (header.width - start.0 + step.0 - 1) / step.0
        height = (header.height - start.1 + step.1 - 1) / step.1
        guard width > 0, height > 0 else { return nil }
        (startX, startY) = start
        (stepX, stepY) = step
    }

    static func passes(of header: PNGChunks.Header) -> [PNGPass] {
        guard header.isInterlaced else { return [PNGPass(header, (0, 0), (1, 1))].compactMap(\.self) }
        return [
            PNGPass(header, (0, 0), (8, 8)), PNGPass(header, (4, 0), (8, 8)), PNGPass(header, (0, 4), (4, 8)),
            PNGPass(header, (2, 0), (4, 4)), PNGPass(header, (0, 2), (2, 4)), PNGPass(header, (1, 0), (2, 2)),
            PNGPass(header, (0, 1), (1, 2)),
        ].compactMap(\.self)
    }

    /// The octets of a row without its filter octet. Pixels of less than an octet are packed.
    func rowOctets(_ header: PNGChunks.Header) -> Int {
        (width * header.depth * header.color.channels + 7) / 8
    }
}

/// Reads the rows of one pass and reverses their filters (§9).
struct PNGRows {
    /// The last row; samples begin at index 0.
    private(set) var current: [UInt8]
    private var stored: [UInt8]
    /// The distance to the pixel on the left, in octets: at least one (§9.2).
    private let distance: Int

    init(pass: PNGPass, header: PNGChunks.Header) {
        let count = pass.rowOctets(header)
        current = Array(repeating: 0, count: count)
        stored = Array(repeating: 0, count: count + 1)
        distance = max(1, header.depth * header.color.channels / 8)
    }

    mutating func next(from inflater: PNGInflater) throws(ImageFailure) {
        try inflater.fill(&stored, count: stored.count)
        switch stored[0] {
        case 0: for index in current.indices { current[index] = stored[index + 1] }
        case 1: for index in current.indices { current[index] = stored[index + 1] &+ left(index) }
        case 2: for index in current.indices { current[index] = stored[index + 1] &+ current[index] }
        case 3:
            for index in current.indices {
                let average = (Int(left(index)) + Int(current[index])) / 2
                current[index] = stored[index + 1] &+ UInt8(truncatingIfNeeded: average)
            }
        case 4: paeth()
        default: throw .corrupt(.png, "an unknown row filter, \(stored[0])")
        }
    }

    /// The octet on the left in the new row. Below `index`, ``current`` holds the new row, from there on the row above.
    private func left(_ index: Int) -> UInt8 { index >= distance ? current[index - distance] : 0 }

    /// Reverses the Paeth filter (§9.4). The octet above and to the left has been overwritten by then, so the octets of
    /// one pixel are kept.
    private mutating func paeth() {
        var corners = Array(repeating: UInt8(0), count: distance)
        var slot = 0
        for index in current.indices {
            let (a, b, c) = (Int(left(index)), Int(current[index]), Int(corners[slot]))
            corners[slot] = current[index]
            slot = slot + 1 == distance ? 0 : slot + 1
            let (toA, toB, toC) = (abs(b - c), abs(a - c), abs(a + b - 2 * c))
            let nearest = toA <= toB && toA <= toC ? a : toB <= toC ? b : c
            current[index] = stored[index + 1] &+ UInt8(truncatingIfNeeded: nearest)
        }
    }
}
