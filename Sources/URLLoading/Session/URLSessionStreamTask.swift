public import Foundation

/// Bytes both ways over TCP. Nothing makes one yet: the class is here for the delegates that name it.
open class URLSessionStreamTask: URLSessionTask, @unchecked Sendable {}
