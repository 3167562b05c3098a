internal import Foundation

/// A stream on its way from the user to the loader. The user hands it over and does not use it after that.
struct HandedStream: @unchecked Sendable {
    let stream: InputStream?
}
