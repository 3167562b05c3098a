public import Foundation

open class URLSession: NSObject, @unchecked Sendable {
}
