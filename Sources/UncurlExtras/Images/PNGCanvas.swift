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
