public import Foundation

open class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {
    public enum CloseCode: Int, Sendable { case invalid = 0 }
}
