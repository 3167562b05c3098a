/// Converts rows of samples into pixels of four octets.
struct PNGCanvas {
    private(set) var octets: [UInt8]
    private let header: PNGChunks.Header
    private let palette: [UInt8]
    /// The alpha values of the palette's first colors.
    private let alphas: [UInt8]
    /// The samples of the one transparent color; empty where there is none.
    private let key: [Int]
    /// What each sample of up to eight bits becomes: the largest becomes 255 (§13.12).
    private let scale: [UInt8]

    init(_ chunks: PNGChunks) {
        header = chunks.header
        let largest = 1 << min(header.depth, 8) - 1
        scale = (0...largest).map { UInt8(truncatingIfNeeded: ($0 * 255 + largest / 2) / largest) }
        palette = chunks.palette
        octets = Array(repeating: 0, count: header.width * header.height * 4)
        let transparency = chunks.transparency
        if header.color == .indexed {
            alphas = transparency
            key = []
        } else {
            alphas = []
            key = stride(from: 0, to: transparency.count, by: 2).map { index in
                Int(transparency[index]) << 8 | Int(transparency[index + 1])
            }
        }
    }

    mutating func draw(_ row: [UInt8], row number: Int, pass: PNGPass) throws(ImageFailure) {
        var next = ((pass.startY + number * pass.stepY) * header.width + pass.startX) * 4
        for column in 0..<pass.width {
            let place = next
            next += pass.stepX * 4
            switch header.color {
            case .gray:
                let sample = sample(row, column)
                let value = eight(sample)
                set(place, value, value, value, key.first == sample ? 0 : 255)
            case .indexed:
                let index = sample(row, column)
                guard index * 3 + 2 < palette.count else { throw .corrupt(.png, "a color beyond the palette") }
                let alpha = index < alphas.count ? alphas[index] : 255
                set(place, palette[index * 3], palette[index * 3 + 1], palette[index * 3 + 2], alpha)
            case .grayAlpha:
                let value = eight(sample(row, column * 2))
                set(place, value, value, value, eight(sample(row, column * 2 + 1)))
            case .rgb:
                let (red, green, blue) = (
                    sample(row, column * 3), sample(row, column * 3 + 1), sample(row, column * 3 + 2)
                )
                let isKey = key.count == 3 && key[0] == red && key[1] == green && key[2] == blue
                set(place, eight(red), eight(green), eight(blue), isKey ? 0 : 255)
            case .rgba:
                let first = column * 4
                set(
                    place,
                    eight(sample(row, first)),
                    eight(sample(row, first + 1)),
                    eight(sample(row, first + 2)),
                    eight(sample(row, first + 3))
                )
            }
        }
    }

    private mutating func set(_ place: Int, _ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8) {
        octets[place] = red
        octets[place + 1] = green
        octets[place + 2] = blue
        octets[place + 3] = alpha
    }

    /// A sample. If an octet holds several, the leftmost is in the high bits (§7.2).
    private func sample(_ row: [UInt8], _ index: Int) -> Int {
        switch header.depth {
        case 8: return Int(row[index])
        case 16: return Int(row[index * 2]) << 8 | Int(row[index * 2 + 1])
        default:
            let bit = index * header.depth
            return Int(row[bit / 8]) >> (8 - header.depth - bit % 8) & (1 << header.depth - 1)
        }
    }

    /// Scales a sample. Of sixteen bits it is the nearest of (sample * 255) / 65535, without a division for each.
    private func eight(_ sample: Int) -> UInt8 {
        header.depth == 16 ? UInt8(truncatingIfNeeded: (sample * 255 + 32_895) >> 16) : scale[sample]
    }
}

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
