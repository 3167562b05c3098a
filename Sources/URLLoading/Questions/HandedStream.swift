internal import Foundation

/// A stream on its way from the program to the loader. The program does not use it after it has given it away.
struct HandedStream: @unchecked Sendable {
    let stream: InputStream?
}
